"""The Exchange page of the coordinator: task files out, work files in."""
