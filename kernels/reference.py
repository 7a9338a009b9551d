"""Inputs and expected results of the bundled kernels.

    python -m warpfile.kernels.reference [NAME]...

rewrites every ``launch.toml`` (small), ``large.toml`` and array. The definition of a kernel's result is in
``kernels/<name>/reference.py``; it follows the mathematics, never the CUDA source, and its inputs are seeded.
"""

import sys
from importlib import import_module
from pathlib import Path

if __package__ in (None, ""):  # run as a file: the package is found from the folder above
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from warpfile.kernels.launch import Launch, write

KERNELS = Path(__file__).resolve().parent
SIZES = {"small": ("launch", ""), "large": ("large", "large_")}  # size -> stem of the toml file, prefix of the arrays


def names() -> list[str]:
    """Names of all bundled kernels."""
    return sorted(path.parent.name for path in KERNELS.glob("*/kernel.cu"))


def launch(name: str, size: str) -> Launch:
    """The launch of a kernel with its inputs and expected results; ``size`` is ``small`` or ``large``."""
    return import_module(f"warpfile.kernels.{name}.reference").launch(size)


def regenerate(name: str, directory: Path) -> None:
    """Write the launches of one kernel into a directory."""
    for size, (stem, prefix) in SIZES.items():
        write(launch(name, size), directory, name, stem, prefix)


def main(chosen: list[str]) -> int:
    """Regenerate the named kernels, or all of them; the exit status of the command."""
    unknown = sorted(set(chosen) - set(names()))
    if unknown:
        print(f"kernels.reference: kernel must be one of {', '.join(names())}, not {unknown[0]!r}", file=sys.stderr)
        return 2
    for name in chosen or names():
        regenerate(name, KERNELS / name)
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
