"""What the studio and the viewer share as servers: who is let in, headers, connections, static files."""
