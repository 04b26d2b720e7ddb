"""Validation sets: how they are drawn, looked at, reviewed and ruled on."""
