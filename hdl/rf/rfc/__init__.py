"""Register cache per active warp in front of the banks (docs/schemes/rfc.md)."""
