"""What an order of work costs, how a run goes on after a stop, and whether judges drift."""
