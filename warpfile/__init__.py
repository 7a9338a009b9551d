"""Register-file architectures of GPUs: the functions of :mod:`warpfile.api`, and the command line.

import warpfile

warpfile.simulate(["baseline", "bow_wr"], "spmv", preset="turing").to_frame()
"""

from typing import TYPE_CHECKING, Any

from warpfile.compiled import install

if TYPE_CHECKING:
    from warpfile.api import (
        Analysis,
        Comparisons,
        Costs,
        Difference,
        Execution,
        Kernel,
        Locksteps,
        Result,
        Simulations,
        analyze,
        compare,
        execute,
        import_cuda,
        kernel_names,
        lockstep,
        preset_names,
        scheme_names,
        simulate,
        synthesize,
    )

__all__ = [
    "Analysis",
    "Comparisons",
    "Costs",
    "Difference",
    "Execution",
    "Kernel",
    "Locksteps",
    "Result",
    "Simulations",
    "analyze",
    "compare",
    "execute",
    "import_cuda",
    "kernel_names",
    "lockstep",
    "preset_names",
    "scheme_names",
    "simulate",
    "synthesize",
]

install()


def __getattr__(name: str) -> Any:
    """The functions, when they are asked for: a simulation imports this package, too, and must start at once."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from warpfile import api

    return getattr(api, name)


def __dir__() -> list[str]:
    """Names of the package, including those that are imported on first use."""
    return sorted({*globals(), *__all__})
