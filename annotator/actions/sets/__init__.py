"""Validation sets: drawing, looks at the test part, reviews and rulings."""
