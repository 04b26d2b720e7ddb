"""Tables that the papers print, made of a project's data."""
