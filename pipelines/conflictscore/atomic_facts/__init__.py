"""The decomposition into claims beside people's atomic facts."""
