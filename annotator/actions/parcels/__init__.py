"""Work that travels by file: tasks, returned work, what waits to be taken in, and the keys that tell whose it is."""
