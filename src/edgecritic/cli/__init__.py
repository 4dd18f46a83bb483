"""The command line: one file per sub-command, heavy imports inside."""
