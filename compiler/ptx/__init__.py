"""Allocated PTX: PTX whose virtual registers get machine registers, as a listing that the emulator executes.

docs/ptx.md has what is kept of PTX, what is not, and the kernels that are refused.
"""
