"""Compiled code that is larger than a bundled kernel: CUDA sources and their packed listings with encodings.

    python -m tests.emulator.compiled

rewrites the listings from the sources; it needs ``nvcc`` 13.0 and ``nvdisasm`` as :mod:`warpfile.kernels.build` does.
"""

import gzip
from functools import cache
from pathlib import Path

from warpfile.compiler import Listing, parse

FOLDER = Path(__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.cu"))


@cache
def text(name: str) -> str:
    """The listing that belongs to a source."""
    return gzip.decompress((FOLDER / f"{name}.sass.gz").read_bytes()).decode()


@cache
def listing(name: str) -> Listing:
    """The same, parsed."""
    return parse(text(name), f"{name}.sass")
