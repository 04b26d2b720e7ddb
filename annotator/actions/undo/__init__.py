"""Undo, redo, and recovery after a crash, for all subjects."""
