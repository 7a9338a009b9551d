"""All opcode families; importing this module registers them."""

from emulator import (
    atomics,
    bits,
    compare,
    control,
    conversion,
    float32,
    float64,
    half,
    integer,
    lane_ops,
    matrix,
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
    "half",
    "integer",
    "lane_ops",
    "matrix",
    "memory_ops",
    "special",
]
