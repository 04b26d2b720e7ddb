"""The plan of who does what."""
