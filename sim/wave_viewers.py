"""What GTKWave and Surfer show of a waveform: files beside it with groups, and with names of values.

``NAME.gtkw`` is GTKWave's save file, ``NAME.names`` holds its translate filters, a file of names for every kind of
value. ``NAME.sucl`` are commands for Surfer, which takes the names from the waveform itself, where it has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path

from vcd.gtkw import GTKWSave, make_translation_filter

from warpfile.sim.simulators import TOPLEVEL
from warpfile.sim.wave_view import SCOPE, Group, Instance, Signal, types

#: Parts of the machine whose ports are shown with a group.
_PARTS = {"scheduler": "scheduler", "banks": "bank"}
#: GTKWave's logarithm of its zoom at which a cycle has about a hundred pixels.
_ZOOM = -13.5
#: Flags of a signal that is shown by names: binary, right-justified, by a filter; and the same with the names that the
#: waveform has, of which pyvcd does not know. GTKWave takes no filter for a signal that has such names.
_FILTERED, _NAMED = "@2028\n", "@100002028\n"


def viewer_files(waveform: Path, groups: Sequence[Group], instances: Sequence[Instance]) -> Mapping[Path, str]:
    """Texts of all files for a waveform, by path."""
    folder = waveform.with_suffix(".names")
    files = {folder / kind: _filter(signal) for kind, signal in types(groups).items()}
    files[waveform.with_suffix(".gtkw")] = _gtkwave(waveform, groups, instances)
    files[waveform.with_suffix(".sucl")] = _surfer(groups, instances)
    return files


def _filter(signal: Signal) -> str:
    return make_translation_filter(sorted(signal.names.items()), "bin", signal.width) + "\n"


def _parts(group: Group, instances: Iterable[Instance]) -> Iterator[Instance]:
    name = _PARTS.get(group.name)
    return (one for one in instances if name and one.path.rpartition(".")[2].rstrip("0123456789") == name)


def _gtkwave(waveform: Path, groups: Iterable[Group], instances: Sequence[Instance]) -> str:
    text = StringIO()
    save = GTKWSave(text)
    save.dumpfile(str(waveform))
    save.zoom_markers(_ZOOM)
    save.trace(f"{TOPLEVEL}.clk")
    save.trace(f"{TOPLEVEL}.cycle[31:0]", datafmt="dec")
    folder = waveform.with_suffix(".names").resolve()
    for group in groups:
        with save.group(group.name):
            _traces(save, group, f"{TOPLEVEL}.{SCOPE}.{group.name}", folder)
            for part in _parts(group, instances):
                with save.group(part.path, closed=True):
                    _traces(save, Group("", part.ports), f"{TOPLEVEL}.dut.{part.path}", folder)
    return text.getvalue().replace(_FILTERED, _NAMED)


def _traces(save: GTKWSave, group: Group, scope: str, folder: Path) -> None:
    for signal in group.signals:
        name = f"{scope}.{signal.name}" + (f"[{signal.width - 1}:0]" if signal.width > 1 else "")
        names = str(folder / signal.kind) if signal.names else None
        form = "bin" if names else "dec" if signal.decimal else "hex"
        save.trace(name, datafmt=form, translate_filter_file=names)
    for inner in group.groups:
        with save.group(inner.name, closed=True):
            _traces(save, inner, f"{scope}.{inner.name}", folder)


def _surfer(groups: Iterable[Group], instances: Sequence[Instance]) -> str:
    lines = [f"variable_add {TOPLEVEL}.clk", f"variable_add {TOPLEVEL}.cycle"]
    for group in groups:
        parts = list(_parts(group, instances))
        if list(group.walk()):
            lines.append(f"scope_add_as_group_recursive {TOPLEVEL}.{SCOPE}.{group.name}")
        for part in parts:
            lines.append(f"divider_add {part.path}")
            lines += [f"variable_add {TOPLEVEL}.dut.{part.path}.{port.name}" for port in part.ports]
    return "\n".join([*lines, "zoom_fit"]) + "\n"
