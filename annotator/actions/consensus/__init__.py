"""The consensus of several experts: rows, letters, alignment and versions."""
