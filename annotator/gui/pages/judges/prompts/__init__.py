"""Prompts: the wording in force, and the next one."""
