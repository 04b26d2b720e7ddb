"""Validation of judges: figures, disagreements, corrected scores, validity cards."""
