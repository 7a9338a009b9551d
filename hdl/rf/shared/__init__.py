"""Rows that registers of several warps share where they hold the same loaded words (docs/schemes/larf.md)."""
