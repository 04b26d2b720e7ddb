"""Orders of every kind: carried out, gone on with, foreseen, and handed to the window's child."""
