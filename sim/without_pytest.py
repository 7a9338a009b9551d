"""How cocotb starts in the lockstep's own simulations: without pytest.

cocotb imports pytest for tests that expect its exceptions, which takes longer than all else of a short simulation. The
benches of the lockstep expect none, so here three empty names stand for it.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

#: What the simulator's Python calls when it starts (``PYGPI_USERS``): this module, then what cocotb has for itself.
ENTRIES = (
    "warpfile.sim.without_pytest:without_pytest",
    "cocotb.logging:_configure",
    "cocotb._init:init_package_from_simulation",
    "cocotb.regression:_run_regression",
)


class _Never(BaseException):
    """It is never raised."""


def without_pytest() -> None:
    """Put modules with the names that cocotb asks for in the place of pytest."""
    expected = dict.fromkeys(("raises", "skip", "xfail"), SimpleNamespace(Exception=_Never))
    _module("pytest", **expected)
    _module("_pytest")
    _module("_pytest.assertion", install_importhook=None)
    _module("_pytest.config", Config=None)


def _module(name: str, **names: object) -> None:
    module = ModuleType(name)
    vars(module).update(names)
    sys.modules.setdefault(name, module)
