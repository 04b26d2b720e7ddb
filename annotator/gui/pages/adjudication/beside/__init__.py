"""What stands beside the rows: source, guideline, discussion, gaps."""
