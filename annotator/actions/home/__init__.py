"""Where a benchmark stands, and what comes next."""
