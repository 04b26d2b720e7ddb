"""One call to an endpoint: sent, limited, paid for, read, kept."""
