"""Repeated parts as one Verilog module with many instances.

Amaranth emits a module of its own for every instance of a component. For parts that repeat (a lane's data path, a
collector unit, a bank) that would make the output, and the synthesis of it, grow with the number of instances.
A *stamped* part is emitted once, as a module with a stable name, and instantiated by that name.

Of all other components Amaranth gives a module whatever nets cross its border, by names of its own making. ``apart``
they are converted one by one, so that each module has the ports of its signature, by their names. Then no constant goes
through a border, which synthesis module by module would see: lockstep and figures use Amaranth's own.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from amaranth import ClockSignal, Instance, Module, ResetSignal, Value
from amaranth.hdl import Fragment
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from warpfile.hdl.verilog import elaborating, verilog

#: Pin that holds all clock gates open. Every module that has one, at any depth, has the pin, as it has the clock.
TEST_ENABLE = "test_enable"
#: The pin is the clock of this domain: so it reaches every module of its own, as clock and reset do.
TEST = "test"

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
    ports = modules[module].signature.create(path=(name,))
    m.submodules[name] = _instance(module, ports, clocked)
    return ports


def _instance(module: str, ports: wiring.PureInterface | wiring.Component, clocked: bool) -> Instance:
    connections = {"i_clk": ClockSignal(), "i_rst": ResetSignal()} if clocked else {}
    for path, member, value in ports.signature.flatten(ports):
        direction = "i" if member.flow is In else "o"
        connections[f"{direction}_{port_name(path)}"] = Value.cast(value)
    return Instance(module, **connections)


def note_module(module: str, text: str) -> None:
    """Add a module written in Verilog to the output of the conversion under way."""
    _modules.get().setdefault(module, text)


def convert(
    build: Callable[[], wiring.Component],
    name: str,
    progress: Callable[[str], None] = str,
    *,
    apart: bool = False,
    parts: dict[str, wiring.Component] | None = None,
) -> str:
    """Verilog of the part that ``build`` makes, and of every module stamped below it, each module once.

    ``progress`` is called with the name of each module before it is converted. ``apart``: every component below has the
    ports that it declares. ``parts`` gets the component of every module.
    """
    modules: dict[str, wiring.Component | str] = {}
    token = _modules.set(modules)
    try:
        with _uncollected(), elaborating():
            modules[name] = build()
            made: dict[str, wiring.Component] = {} if parts is None else parts
            fragments: dict[str, Fragment | str] = {}
            while pending := [module for module in modules if module not in fragments]:
                for module in pending:
                    fragments.update(_elaborated(module, modules[module], apart, made))
            _connect_test_enable(fragments)
            return "\n".join(_texts(fragments, made, lambda one: progress(one) if one in modules else None))
    finally:
        _modules.reset(token)


def _texts(
    fragments: dict[str, Fragment | str], made: dict[str, wiring.Component], progress: Callable[[str], None]
) -> Iterator[str]:
    """Verilog of every module. A fragment is not kept when it has been written."""
    for name in list(fragments):
        progress(name)
        fragment = fragments.pop(name)
        yield fragment if isinstance(fragment, str) else verilog(made[name], name, fragment, {TEST: TEST_ENABLE})


def _connect_test_enable(fragments: dict[str, Fragment | str]) -> None:
    """The pin for all instances of modules that have a clock gate, at any depth."""
    inside = {name: list(_instances(one)) for name, one in fragments.items() if isinstance(one, Fragment)}
    tested: set[str] = set()
    while more := {
        name
        for name, instances in inside.items()
        if name not in tested and any(one.type in tested or TEST_ENABLE in one.ports for one in instances)
    }:
        tested |= more
    for instance in (one for instances in inside.values() for one in instances if one.type in tested):
        instance.ports[TEST_ENABLE] = ClockSignal(TEST), "i"


def _instances(fragment: Fragment) -> Iterator[Instance]:
    if isinstance(fragment, Instance):
        yield fragment
    for child, *_ in fragment.subfragments:
        yield from _instances(child)


def _elaborated(
    module: str, part: wiring.Component | str, apart: bool, made: dict[str, wiring.Component]
) -> Iterator[tuple[str, Fragment | str]]:
    """A module, then the components in it, by name."""
    if isinstance(part, str):
        yield module, part
        return
    parts = [(module, part, Fragment.get(part, None))]
    while parts:
        name, part, fragment = parts.pop(0)
        made[name] = part
        parts[:0] = _taken_out(name, fragment) if apart else []
        yield name, fragment


def _taken_out(module: str, fragment: Fragment) -> list[tuple[str, wiring.Component, Fragment]]:
    """Replace every component of a module by an instance; these with their names."""
    taken = []
    for place, (child, name, source) in enumerate(fragment.subfragments):
        part = child.origins[0] if child.origins else None
        if isinstance(part, wiring.Component):
            instance = Fragment.get(_instance(f"{module}.{name}", part, _clocked(child)), None)
            fragment.subfragments[place] = instance, name, source
            taken.append((f"{module}.{name}", part, child))
    return taken


def _clocked(fragment: Fragment) -> bool:
    """Whether a part has registers, in itself or below."""
    if isinstance(fragment, Instance):
        return "clk" in fragment.ports
    return bool(fragment.statements.keys() - {"comb"}) or any(_clocked(child) for child, *_ in fragment.subfragments)


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
