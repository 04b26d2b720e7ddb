"""Where texts, PDFs and formulas are read."""
