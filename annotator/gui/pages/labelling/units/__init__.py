"""Units beside the report, as cards or as a matrix."""
