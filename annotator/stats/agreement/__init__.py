"""Agreement: κ, α, correlations, and chance agreement."""
