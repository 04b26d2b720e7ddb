"""Labels that come and leave as files."""
