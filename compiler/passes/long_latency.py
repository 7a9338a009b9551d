"""Long-latency operations."""

from __future__ import annotations

from warpfile.spec.trace import Access, Space, StaticInstruction

_LONG = (Space.GLOBAL, Space.LOCAL, Space.TEXTURE)


def is_long(static: StaticInstruction) -> bool:
    """Whether it is a long-latency operation: its result comes from global or local memory or from a texture unit."""
    is_fetch = static.access in (Access.LOAD, Access.ATOMIC) and static.space in _LONG
    return is_fetch and bool(static.dest_count or static.token_writes)
