"""Register sets that are fetched ahead: intervals or strands of the code, PREFETCH in the stream, dead operands."""
