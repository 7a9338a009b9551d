"""Collector units that have sources looked up, and join those that one access brings (docs/schemes/corf.md)."""
