"""``python -m warpfile.prepare``: what a machine needs once, before it is needed: compiled yosys and golden models."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from warpfile import compile as models
from warpfile import yosys
from warpfile.hdl import verilog


def main() -> None:
    """Make whatever is missing, and print how the golden models run."""
    with ThreadPoolExecutor(1) as pool:
        prepared = pool.submit(lambda: (yosys.prepare(), verilog.prepare()))
        models.main()
        prepared.result()


if __name__ == "__main__":
    main()
