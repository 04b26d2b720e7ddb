"""What experts write: documents with their revisions, guidelines, and who may see and change what."""
