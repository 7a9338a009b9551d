"""Register file with a few entries per active warp that the compiler allocates."""
