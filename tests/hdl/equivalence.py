"""Proof by yosys that every module of one text does what it does in another one.

Where a module has another one in it, its own ends are cut: what it gives to that one is an output, what it gets an
input. So modules are compared one by one, each with all values that its parts might give.
"""

from __future__ import annotations

import re
from pathlib import Path

from warpfile import yosys

_NAME = r"(\\\S+|\w+)"
_HEAD = re.compile(rf"^module {_NAME}(.*?)\);$", re.MULTILINE | re.DOTALL)
_PORT = re.compile(rf"^ +(input|output)(?: reg)? *(?:\[(\d+):0\])? *{_NAME}", re.MULTILINE)
_INSTANCE = re.compile(rf"^  {_NAME} +{_NAME} +\(\n(.*?)\n?  \);\n", re.MULTILINE | re.DOTALL)
_PIN = re.compile(rf"^    \.{_NAME} ?\((.*)\),?$", re.MULTILINE)
#: Of the ports of a module, for each name the direction and the highest bit.
Ports = dict[str, tuple[str, int]]


def prove(ours: str, theirs: str, folder: Path, package: str = "") -> int:
    """How many modules of ``ours`` differ in their text from those of ``theirs`` and were proved equal.

    A port that a module of ours does not have, theirs must not need. With a ``package``, ours are SystemVerilog, and
    have the same ports. Raises ``YosysError`` for a difference.
    """
    new, old = _modules(ours), _modules(theirs)
    assert new.keys() == old.keys()
    changed = [name for name in new if new[name].strip() != old[name].strip()]
    known = {name: _ports(text) for name, text in (old if package else new).items()}
    for name in changed:
        for port in _ports(old[name]).keys() - known[name].keys():
            new[name] = _HEAD.sub(lambda head: f"{head[0][:-2]}, {port});\n  input {port};", new[name], count=1)  # noqa: B023
    for file, texts in (("gold.v", old), ("gate.v", new)):
        text = package if file == "gate.v" else ""
        (folder / file).write_text(text + "\n".join(_cut(texts[name], known) for name in changed))
    script = "".join(
        f"read_verilog {'-sv ' * bool(package)}{kind}.v\nproc\nopt_clean\ndesign -stash {kind}\n"
        for kind in ("gold", "gate")
    ) + "".join(
        f"design -reset\ndesign -copy-from gold -as gold {name}\ndesign -copy-from gate -as gate {name}\n"
        "equiv_make gold gate equiv\ncd equiv\nequiv_simple -short\nequiv_induct\nequiv_status -assert\ncd ..\n"
        for name in changed
    )
    (folder / "prove.ys").write_text(script)
    said = yosys.start(["prove.ys"], folder)
    assert said.count("Equivalence successfully proven!") == len(changed)
    return len(changed)


def _modules(text: str) -> dict[str, str]:
    bodies = re.split(r"(?<=^endmodule\n)", text, flags=re.MULTILINE)
    return {head[1]: body for body in bodies if (head := _HEAD.search(body))}


def _ports(text: str) -> Ports:
    return {name: (direction, int(high or 0)) for direction, high, name in _PORT.findall(text)}


def _cut(text: str, known: dict[str, Ports]) -> str:
    """A module with pins for its instances; in its head, if that is where its ports are declared."""
    pins: list[str] = []
    declares = re.search(r"^module [^;]*?^ +(?:input|output) ", text, re.MULTILINE) is not None

    def one(instance: re.Match[str]) -> str:
        lines = []
        for pin, end in _PIN.findall(instance[3]):
            if pin not in known[instance[1]]:
                continue
            direction, high = known[instance[1]][pin]
            name = f"\\{instance[2]}.{pin} ".replace("\\", "").join(("\\", ""))
            declared = f"{'output' if direction == 'input' else 'input'} [{high}:0] {name}"
            pins.append(declared if declares else name)
            lines.append("" if declares else f"  {declared};\n")
            target, value = (name, end) if direction == "input" else (end, name)
            lines.append(f"  assign {target} = {value};\n" if end.strip() else "")
        return "".join(lines)

    text = _INSTANCE.sub(one, text)
    return _HEAD.sub(lambda head: f"{head[0][:-2]}{''.join(f', {pin}' for pin in pins)});", text, count=1)
