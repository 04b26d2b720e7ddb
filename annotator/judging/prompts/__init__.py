"""Prompts: messages, schemas, and text that tries to instruct the judge."""
