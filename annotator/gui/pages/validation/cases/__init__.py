"""Disagreements and Reviews tabs: verdicts worked through one by one."""
