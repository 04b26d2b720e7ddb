"""The Results page: figures with intervals, pictures, and the rows behind every number."""
