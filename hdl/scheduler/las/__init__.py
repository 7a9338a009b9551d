"""The locality-aware scheduler."""
