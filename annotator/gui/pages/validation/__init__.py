"""The Validate page, where judges are compared with people."""
