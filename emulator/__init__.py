"""Functional execution of SASS kernels, 32 lanes at a time, into annotated traces."""
