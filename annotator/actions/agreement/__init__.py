"""Agreement of people, and of people with models."""
