"""All opcode families; importing this module registers them."""

from warpfile.emulator import (
    atomics,
    barriers,
    bits,
    compare,
    control,
    conversion,
    dot,
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
    "barriers",
    "bits",
    "compare",
    "control",
    "conversion",
    "dot",
    "float32",
    "float64",
    "half",
    "integer",
    "lane_ops",
    "matrix",
    "memory_ops",
    "special",
]
