"""Contests of tasks: runs by judges, pairs ranked by people, standings, and which tasks are kept."""
