"""Transcripts of seminars: import, correction, exclusion, pseudonyms and history."""
