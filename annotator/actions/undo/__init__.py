"""What is taken back, and recovered after a crash, above all subjects."""
