"""Random machines with a read window, as narrow as the rules of docs/schemes/modern.md, section 3, allow."""

from __future__ import annotations

import random
from dataclasses import fields

from tests.golden.test_random import random_config
from warpfile.schemes import find
from warpfile.spec.config import Config
from warpfile.spec.schemes.modern import POSITIONS, ReadWindowConfig

_VARIABLE = ("sfu", "double", "tensor", "shared", "hit", "texture")


def random_window(rng: random.Random, dependences: str, **changes: object) -> ReadWindowConfig:
    """Ports, window, delays and queues at random; every variable latency is the least, or a little more."""
    kind = find("modern").parameters
    assert issubclass(kind, ReadWindowConfig)
    common = random_config(rng)
    values: dict[str, object] = {field.name: getattr(common, field.name) for field in fields(Config)}
    values |= {"scheduler": "cggty", "rows": 256, "result_queue": rng.choice((2, 3, 8))}
    values |= {"decode_order": rng.choice(("follow", "round_robin")), "dependences": dependences}
    values |= {"reuse_cache": rng.choice(("on", "on", "off")), "unit_interval": rng.choice((1, 2))}
    values |= {"lsu_queue": rng.choice((1, 2, 5)), "sfu_queue": rng.choice((1, 3))}
    ports = rng.choice((1, 1, 2, 3))
    window = rng.randint(-(-POSITIONS // ports), 6)
    alu = rng.randint(2, 3 if dependences == "control_codes" else 6)
    least = max(4, window + alu - 1 if dependences == "control_codes" else 4)
    delay = rng.randint(least, min(12, window + alu + 3))
    shortest = max(1, window + alu + 3 - delay)
    values |= {"read_ports": ports, "read_window": window, "alu_latency": alu, "variable_delay": delay}
    values |= {f"{name}_latency": shortest + rng.choice((0, 0, 1, 9)) for name in _VARIABLE}
    values["miss_latency"] = max(int(str(values["miss_latency"])), int(str(values["hit_latency"])))
    return kind(**kind.adapted(values | changes))  # type: ignore[arg-type]
