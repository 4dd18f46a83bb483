"""Tables, figures and the single-file HTML report."""
