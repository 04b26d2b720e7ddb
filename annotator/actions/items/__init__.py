"""Items and what belongs to them: sources, responses, cited pages and extracts."""
