"""Layouts of others: benchmarks' own files (one table, `layouts`), files of labels."""
