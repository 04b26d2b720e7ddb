"""Other layouts: benchmarks' own files (one table, `layouts`) and files of labels."""
