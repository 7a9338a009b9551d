"""Repeated parts as one Verilog module with many instances.

Amaranth emits a module of its own for every instance of a component. For parts that repeat (a lane's data path, a
collector unit, a bank) that would make the output, and the synthesis of it, grow with the number of instances.
A *stamped* part is emitted once, as a module with a stable name, and instantiated by that name.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from amaranth import ClockSignal, Instance, Module, ResetSignal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from warpfile.hdl.verilog import verilog

_modules: ContextVar[dict[str, wiring.Component | str]] = ContextVar("modules")


def port_name(path: tuple[str | int, ...]) -> str:
    """Name that Amaranth gives the port of a nested signature member."""
    return "__".join(str(part) for part in path)


def stamp(
    m: Module, name: str, module: str, build: Callable[[], wiring.Component], *, clocked: bool = True
) -> wiring.PureInterface:
    """Instantiate ``module`` as submodule ``name`` of ``m`` and return its ports.

    ``build`` makes the part; it is called once per module name, so all instances of a name must be alike. ``clocked``
    says whether the part has registers. Valid only inside :func:`convert`.
    """
    modules = _modules.get()
    if module not in modules:
        modules[module] = build()
    signature = modules[module].signature
    ports = signature.create(path=(name,))
    connections = {}
    if clocked:
        connections |= {"i_clk": ClockSignal(), "i_rst": ResetSignal()}
    for path, member, value in signature.flatten(ports):
        direction = "i" if member.flow is In else "o"
        connections[f"{direction}_{port_name(path)}"] = Value.cast(value)
    m.submodules[name] = Instance(module, **connections)
    return ports


def note_module(module: str, text: str) -> None:
    """Add a module written in Verilog to the output of the conversion under way."""
    _modules.get().setdefault(module, text)


def convert(build: Callable[[], wiring.Component], name: str, progress: Callable[[str], None] = str) -> str:
    """Verilog of the part that ``build`` makes, and of every module stamped below it, each module once.

    ``progress`` is called with the name of each module before it is converted.
    """
    modules: dict[str, wiring.Component | str] = {}
    token = _modules.set(modules)
    try:
        with _uncollected():
            modules[name] = build()
            texts: dict[str, str] = {}
            while pending := [module for module in modules if module not in texts]:
                for module in pending:
                    progress(module)
                    part = modules[module]
                    texts[module] = part if isinstance(part, str) else verilog(part, module)
            return "\n".join(texts.values())
    finally:
        _modules.reset(token)


@contextmanager
def _uncollected() -> Iterator[None]:
    """No cyclic garbage collection: the millions of objects of a netlist live until it is written, and to look through
    them again and again takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
