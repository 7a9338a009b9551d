"""Register file whose warps borrow the registers behind their base sets (docs/schemes/regmutex.md)."""
