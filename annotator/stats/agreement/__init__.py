"""Agreement: κ, α, correlations, and what chance gives."""
