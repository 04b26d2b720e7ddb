"""The rows of the open item, and the controls of the row at hand."""
