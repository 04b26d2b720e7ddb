"""Transcripts of seminars as files: captions, speech recognition, texts and documents."""
