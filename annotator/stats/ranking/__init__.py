"""Ranking by pairs: who meets whom, Elo ratings, Bradley–Terry strengths and who is certainly among the best."""
