"""Judging: what can be judged, its cost, filled prompts, missing judgements, and drift."""
