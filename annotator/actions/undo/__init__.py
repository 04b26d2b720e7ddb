"""What is taken back, recovered after a crash or gone on with after a stop, above all subjects."""
