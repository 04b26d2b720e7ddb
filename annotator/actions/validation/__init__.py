"""Validation of judges: figures, disagreements, corrected scores, replays, validity cards."""
