"""Bundled kernels: CUDA source, machine code and listing, launches and NumPy references."""
