"""From CUDA, machine code or a recorded trace to what a machine runs."""
