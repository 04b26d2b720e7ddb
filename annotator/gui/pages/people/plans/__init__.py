"""Assignment plans."""
