"""Banks whose reads are planned ahead."""
