"""Import of foreign files and labels, export of labels, and the sample project."""
