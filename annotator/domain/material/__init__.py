"""What is judged: items, sources, responses and their parts."""
