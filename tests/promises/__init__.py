"""What Goldsmith promises, each promise a test."""
