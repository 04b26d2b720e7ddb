"""Adjudication: the queue, rulings, first votes, closing, and what authors learn of it."""
