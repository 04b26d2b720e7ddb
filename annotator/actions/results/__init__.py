"""Results: scores of systems with intervals, overall and by item, as tables and files."""
