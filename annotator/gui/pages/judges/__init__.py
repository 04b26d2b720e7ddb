"""The Judges page: judges, runs, replies, comparison, costs and prompts."""
