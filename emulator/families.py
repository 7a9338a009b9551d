"""All opcode families; importing this module registers them."""

from emulator import (
    atomics,
    bits,
    compare,
    control,
    conversion,
    float32,
    float64,
    integer,
    lane_ops,
    memory_ops,
    special,
)

__all__ = [
    "atomics",
    "bits",
    "compare",
    "control",
    "conversion",
    "float32",
    "float64",
    "integer",
    "lane_ops",
    "memory_ops",
    "special",
]
