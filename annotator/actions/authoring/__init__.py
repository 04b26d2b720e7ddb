"""Documents that experts write, their revisions, guidelines, and who may see and change what."""
