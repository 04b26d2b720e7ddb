"""The Material page, where a coordinator prepares what is judged: reports, extracts, cited pages."""
