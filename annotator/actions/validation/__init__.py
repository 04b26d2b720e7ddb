"""Whether a judge may stand in for people: figures, disagreements, corrected scores, replays, validity cards."""
