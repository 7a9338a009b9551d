"""Mutants of generated Verilog: all in one netlist, and proofs that some of them, or another text, change nothing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warpfile.yosys import YosysError, run

SEED = 1
#: Not control: the data path, whose faults the comparison of operands sees, and what only connects parts.
_DATA = re.compile(r"warpfile$|warpfile\.register_file\.banks$|.*_lane$|.*[._]ram$")
#: Below these nothing is mutated; as black boxes they keep a proof small.
_LEAF = re.compile(r".*_lane$|.*_ram$")
#: What may differ between two modules of the same shape: numbers and how often a part of a line is repeated.
_NUMBER = re.compile(r"\d+'[bdh][0-9a-fxz]+|\d+")
_REPEATED = re.compile(r"([^{},]+)(?:,\1)+")
_MODULE = re.compile(r"^module (?:\\(\S+) |(\w+))\(?", re.MULTILINE)
_PORT = re.compile(r"  input \[(\d+):0\] mutsel;\n  wire \[\d+:0\] mutsel;\n")
#: Where yosys lists it as a port; behind every so many ports it begins a new line.
_LAST = re.compile(r"\s*, mutsel\s*\);")
_NETLIST = """\
read_verilog machine.v
hierarchy -top warpfile
proc
opt_clean
select -set control {modules}
mutate -list {count} -seed {seed} -ctrl mutsel {width} 0 -o list.txt @control
script list.txt
write_verilog -noattr mutants.v
"""
#: A module and its mutant with the same inputs, the same state and the same outputs of the parts below: must they give
#: the same outputs, the same next state and the same inputs to the parts below? Equal logic is merged first.
_MITER = """\
read_verilog machine.v
hierarchy -top warpfile
proc
opt_clean
design -save plain
{gold}
design -stash gold
design -load plain
{mutation}
{gate}
design -copy-from gold -as gold gold
expose -evert-dff -evert gold/c:* gate/c:*
miter -equiv -flatten -make_assert gold gate miter
hierarchy -top miter
opt_merge
opt_clean
tee -q -o answer.txt sat -timeout {seconds} -prove-asserts -set-def-inputs miter
"""
_ALONE = "rename {module} {side}"
_WHOLE = "{boxes}flatten warpfile\nopt_clean -purge warpfile\nrename warpfile {side}"
#: Another text of the machine instead of a mutant.
_OTHER = "design -reset\nread_verilog other.v\nhierarchy -top warpfile\nproc\nopt_clean"
_PROVEN = "no model found: SUCCESS!"
#: What yosys says where a mutant changes which registers there are, or what one begins with.
_UNPAIRED = ("No matching port", "Conflicting init values")
#: The same bit by bit, without bits of registers that keep the value of the reset or that have no reader.
_MOVING = """\
{boxes}flatten warpfile
opt_dff -sat -nodffe -nosdff warpfile
simplemap t:$dff t:$mux
splitnets warpfile
opt_clean -purge warpfile
rename warpfile {side}
"""


@dataclass(frozen=True)
class Mutant:
    """One line of yosys's list: ``command`` makes it, ``place`` says where for a reader."""

    number: int
    module: str
    command: str
    place: str


def control_modules(verilog: str, shared: str = "") -> tuple[str, ...]:
    """Names of the modules that are not data path, without those that the machine ``shared`` has too.

    It has a module too if it has one of the same shape (the lines, except for widths and numbers), whatever its name,
    or one of the same name with at least half of the lines: then another machine only connects it in another way.
    """
    theirs = {name: _shape(text) for name, text in _modules(shared)}
    ours = {name: _shape(text) for name, text in _modules(verilog) if not _DATA.match(name)}
    common = {name for name, lines in ours.items() if 2 * len(lines & theirs.get(name, frozenset())) >= len(lines)}
    return tuple(name for name, lines in ours.items() if name not in common and lines not in theirs.values())


def mutate(verilog: str, count: int, control: Sequence[str]) -> tuple[str, tuple[Mutant, ...]]:
    """The machine with up to ``count`` mutants of the modules ``control``; yosys lists fewer if there are not as many.

    None of them is active unless a simulation stores its number in ``mutsel`` of the top module. The list depends on
    the arguments only. Raises ``ValueError`` if there is nothing to mutate.
    """
    if count < 1 or not control:
        raise ValueError(
            f"there must be modules and mutants to ask for, not {len(control)} modules and {count} mutants"
        )
    script = _NETLIST.format(modules=" ".join(control), count=count, seed=SEED, width=count.bit_length())
    mutated, listing = _yosys(script, {"machine.v": verilog}, "mutants.v", "list.txt")
    # yosys leads the select from the top to wherever it is needed; all other modules stay as they were generated.
    texts = dict(_modules(verilog)) | {name: text for name, text in _modules(mutated) if "mutsel" in text}
    texts["warpfile"] = _selected(texts["warpfile"], count)
    source = verilog.split("\n")
    return "\n".join(texts.values()), tuple(_mutant(line, source) for line in listing.splitlines() if line)


def _names(verilog: str) -> list[str]:
    return [first or second for first, second in _MODULE.findall(verilog)]


def _yosys(script: str, files: dict[str, str], *results: str) -> list[str]:
    """Texts of the files that a script writes."""
    return list(run(script, files, results).values())


def _modules(verilog: str) -> Iterator[tuple[str, str]]:
    """Name and text of each module of a Verilog file."""
    starts = [found.start() for found in _MODULE.finditer(verilog)]
    for start, end in itertools.pairwise([*starts, len(verilog)]):
        text = verilog[start:end]
        found = _MODULE.match(text)
        yield found[1] or found[2], text


def _shape(text: str) -> frozenset[str]:
    body = text.partition(";\n")[2]
    return frozenset(_REPEATED.sub(r"\1", _NUMBER.sub("", line)).strip() for line in body.splitlines())


def _selected(text: str, count: int) -> str:
    """The top module; the number of the active mutant is a register for the bench instead of a port."""
    register = f"  reg [{count.bit_length() - 1}:0] mutsel /*verilator public_flat_rw*/ = {count};\n"
    return _LAST.sub(");", _PORT.sub(register, text), count=1)


def _mutant(line: str, source: Sequence[str]) -> Mutant:
    words = line.split()
    options = {words[at]: words[at + 1] for at in range(1, len(words) - 1) if words[at].startswith("-")}
    number = int(words[words.index("-ctrl") + 3])
    at = re.findall(r"machine\.v:(\d+)", line)[-1:]
    text = source[int(at[0]) - 1].strip() if at else options["-cell"]
    text = text.removeprefix("assign ").replace("\\$", "$").replace("  ", " ").rstrip(";")
    text = text if len(text) <= 60 else text[:57] + "..."
    command = re.sub(r"-ctrl \S+ \d+ \d+ ", "", line)
    place = f"{options['-mode']} of {options['-port']}[{options['-portbit']}] in `{text}`"
    return Mutant(number, options["-module"], command, place)


def equivalent(verilog: str, mutant: Mutant, seconds: int = 120, *, reset: bool = False) -> bool:
    """Whether a mutant is proven to change nothing from any state: in its module, or else in the whole machine.

    With ``reset``, which takes minutes: in the whole machine, from any state in which those bits of registers that
    cannot leave the value of the reset have it. Registers of both sides are paired by name, so a mutant that lets yosys
    drop one, or find another initial value for one, counts as not proven.
    """
    boxes = "".join(f"blackbox {name}\n" for name in _names(verilog) if _LEAF.match(name))
    for prepare in (_MOVING,) if reset else (_ALONE, _WHOLE):
        gold, gate = (prepare.format(module=mutant.module, boxes=boxes, side=side) for side in ("gold", "gate"))
        script = _MITER.format(gold=gold, gate=gate, mutation=mutant.command, seconds=seconds)
        try:
            answer = _yosys(script, {"machine.v": verilog}, "answer.txt")[0]
        except YosysError as error:
            if not any(unpaired in str(error) for unpaired in _UNPAIRED):
                raise
            continue
        if _PROVEN in answer:
            return True
    return False


def same(verilog: str, other: str, seconds: int = 120) -> bool:
    """Whether two texts of a machine are proven equal, from any state, up to the pins of their SRAMs.

    Registers are paired by name. Raises :class:`YosysError` where yosys names one of them differently in the two.
    """
    boxes = "".join(f"blackbox {name}\n" for name in _names(verilog) if name.endswith("_ram"))
    gold, gate = (_WHOLE.format(boxes=boxes, side=side) for side in ("gold", "gate"))
    script = _MITER.format(gold=gold, gate=gate, mutation=_OTHER, seconds=seconds)
    return _PROVEN in _yosys(script, {"machine.v": verilog, "other.v": other}, "answer.txt")[0]
