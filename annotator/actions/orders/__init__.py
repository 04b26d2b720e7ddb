"""What an order of work costs, how it is carried out or gone on with, and whether judges drift."""
