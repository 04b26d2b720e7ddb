"""Everything that people and runs do in a project, and ask of it."""
