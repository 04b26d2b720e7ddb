"""Migrations from one schema to the next, numbered by the schema they lead to."""
