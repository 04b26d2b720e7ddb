"""Work by file: tasks, returned work, the tray, and keys that identify people."""
