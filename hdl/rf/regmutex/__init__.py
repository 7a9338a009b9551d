"""A pool of extended registers behind the banks of a plain file (docs/schemes/regmutex.md)."""
