"""Prompts tab: the current wording, and the next one."""
