"""What maintainers run: programs that write and check pages of docs/, and measure what stands there."""
