"""What several pages show of the work of others: sources, verdicts, rulings, replies."""
