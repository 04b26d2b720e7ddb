"""Adjudication: the queue, rulings, first votes, closing, and feedback to authors."""
