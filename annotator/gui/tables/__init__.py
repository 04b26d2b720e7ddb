"""Tables of typed rows: models, columns and their widths."""
