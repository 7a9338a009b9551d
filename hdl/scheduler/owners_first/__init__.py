"""The scheduler that lets owners of shared registers issue first."""
