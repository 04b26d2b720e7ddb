"""People and their work in pairs."""
