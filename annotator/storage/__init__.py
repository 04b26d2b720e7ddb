"""The project file and its database."""
