"""Our own release: records, layout, tables, data card."""
