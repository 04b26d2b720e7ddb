"""Work that travels by file: tasks, returned work, and what waits to be taken in."""
