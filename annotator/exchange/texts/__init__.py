"""Foreign texts made safe to show and read."""
