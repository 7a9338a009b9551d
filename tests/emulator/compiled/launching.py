"""One launch of a compiled kernel on arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.emulator import compiled
from warpfile.compiler import Listing
from warpfile.emulator.arguments import Argument
from warpfile.emulator.launch import Launch
from warpfile.emulator.run import execute


def launch(source: str | Listing, kernel: str, arguments: list[np.ndarray | int], threads: int) -> Launch:
    """A launch of one CTA; an array is a buffer, a number a 32-bit integer."""
    listing = compiled.listing(source) if isinstance(source, str) else source
    rows = [
        Argument(f"a{number}", "buffer", init=one)
        if isinstance(one, np.ndarray)
        else Argument(f"a{number}", "i32", data=one.to_bytes(4, "little", signed=True))
        for number, one in enumerate(arguments)
    ]
    function = listing.function(kernel)
    return Launch(Path("launch.toml"), listing, function, (1, 1, 1), (threads, 1, 1), None, 0, tuple(rows))


def last_buffer(source: str | Listing, kernel: str, arguments: list[np.ndarray | int], threads: int) -> np.ndarray:
    """What the last array holds after the launch."""
    result = execute(launch(source, kernel, arguments, threads))
    position = max(number for number, one in enumerate(arguments) if isinstance(one, np.ndarray))
    init = arguments[position]
    assert isinstance(init, np.ndarray)
    found: np.ndarray = result.buffers[f"a{position}"].view(init.dtype)
    return found
