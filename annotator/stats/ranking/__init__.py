"""Ranking by pairs: who meets whom, Elo ratings, Bradley–Terry strengths and how certain the best are."""
