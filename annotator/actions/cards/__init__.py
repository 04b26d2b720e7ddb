"""Validity cards: all that is known of one judge, made, offered and saved."""
