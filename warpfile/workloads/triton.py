"""What Triton writes about a kernel beside its cubin, in the folder of its cache: ``NAME.cubin`` and ``NAME.json``.

The facts are those that Triton's own launcher takes: warps of a CTA, dynamic shared memory, and the pointers that it
adds behind the parameters of the source, for scratch memory (from release 3.2 on).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from warpfile.spec.reading import read_input

_LARGEST = 1 << 20
_SCRATCH = {"global_scratch_size": "global scratch memory", "profile_scratch_size": "scratch memory of a profiler"}


@dataclass(frozen=True)
class Metadata:
    """``threads`` and ``shared`` bytes of a CTA; ``hidden`` is, for each added pointer, what it is for and its bytes
    per CTA, in the order of the parameters."""

    file: str
    version: str
    threads: int
    shared: int
    hidden: tuple[tuple[str, int], ...]


def metadata(cubin: Path) -> Metadata | None:
    """What stands beside a cubin; None where nothing of Triton does.

    Raises ``ValueError`` for metadata with a wrong value, for clusters and for cooperative launches, and ``OSError``.
    """
    path = cubin.with_suffix(".json")
    if cubin.suffix != ".cubin" or not path.is_file():
        return None
    try:
        table = json.loads(read_input(path, _LARGEST))
    except ValueError:  # too large, no text, or no JSON: not Triton's
        return None
    if not isinstance(table, dict) or "triton_version" not in table:
        return None
    if table.get("launch_cooperative_grid"):
        raise ValueError(f"{path}: kernel must not need a cooperative launch (launch_cooperative_grid)")
    if _count(path, table, "num_ctas", 1) > 1:
        raise ValueError(f"{path}: num_ctas must be 1, not {table['num_ctas']}: a cluster has one CTA")
    hidden = tuple((use, _count(path, table, key)) for key, use in _SCRATCH.items() if key in table)
    threads = _count(path, table, "num_warps") * _count(path, table, "warp_size", 32)
    return Metadata(path.name, str(table["triton_version"]), threads, _count(path, table, "shared"), hidden)


def _count(path: Path, table: dict[str, object], key: str, default: int | None = None) -> int:
    value = table.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{path}: {key} must be a number from 0, not {json.dumps(value)}")
    return value
