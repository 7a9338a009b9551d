"""Generated Verilog as a person reads it: plain names without escapes, for every wire, and lines that fit a screen.

Amaranth calls the modules of parts by their path, with dots, and numbers the results of single operations (``\\$12``).
Here every name becomes a plain identifier. A numbered wire is called after the signal whose value it is part of and
its own operation (``clear_or``), so a name does not depend on what else a module holds. Where several nets would have
one name, each has what it feeds or reads before it (``places_3_carry``). Nothing but names and line
breaks changes here; :func:`identifiers` shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from warpfile.hdl.relations import Relations, joined

WIDTH = 120  #: columns; a single name or number may be longer
_MODULE = re.compile(r"^module (\\\S+ |\w+)", re.MULTILINE)
_NAME = re.compile(r"\\\S+|\b[A-Za-z_]\w*")
_ESCAPED = re.compile(r"\\(\S+)( ?)")
_NUMBERED = re.compile(r"\\(\$\S+)")
_ASSIGN = re.compile(r"\s*(?:assign )?(\\\S+|\w+) ?([^=]*?) <?= (.*)")
_INSTANCE = re.compile(r"  (\\\S+|\w+) +(?:\\\S+ +|(\w+) )\($")
_PIN = re.compile(r"    \.(\w+) ?\((.*)\)")
_FIELDS = re.compile(r"([^.\[]*)(.*)", re.DOTALL)
_GROUP = re.compile(r"\([^()]*\)|\{[^{}]*\}")  #: what stands in brackets
_START = "$auto$verilog_backend"  #: registers that only make a block run at time 0
#: Name of an operation by how its expression looks, in the order in which they are tried.
_OPERATIONS = (
    (" ? ", "choice"),
    (" == ", "equal"),
    (" != ", "differs"),
    (" <<", "shifted"),
    (" >>", "shifted"),
    (" < ", "below"),
    (" <= ", "upto"),
    (" > ", "above"),
    (" >= ", "from"),
    (" & ", "and"),
    (" | ", "or"),
    (" ^ ", "xor"),
    (" + ", "sum"),
    (" - ", "difference"),
    (" * ", "product"),
    ("~", "not"),
    ("!", "none"),
    ("|", "any"),
    ("&", "all"),
    ("^", "parity"),
)


#: Another text of a module: from its old name, its text with plain names, and the plain names by old ones.
Rewrite = Callable[[str, str, Mapping[str, str]], str]


def _same(module: str, text: str, names: Mapping[str, str]) -> str:
    return text


def readable(text: str, module: Callable[[str], str], rewrite: Rewrite = _same) -> str:
    """The same Verilog with plain names in lines of :data:`WIDTH` columns; ``module`` gives the new name of a module.

    The top module's ports keep their names. ``rewrite`` is called for each module before its lines are broken. Raises
    ``ValueError`` where two modules would have one name.
    """
    old = [name.strip().removeprefix("\\") for name in _MODULE.findall(text)]
    modules = {name: module(name) for name in old}
    if clash := sorted(name for name in modules.values() if [*modules.values()].count(name) > 1):
        raise ValueError(f"modules must have different names, not {clash[0]} twice")
    bodies = re.split(r"(?<=^endmodule\n)", text, flags=re.MULTILINE)
    return "".join(_wrapped(_rewritten(body, modules, rewrite)) for body in bodies)


def _rewritten(text: str, modules: dict[str, str], rewrite: Rewrite) -> str:
    body, found = _Body(text), _MODULE.search(text)
    new = body.renamed(modules)
    return rewrite(found[1].strip().removeprefix("\\"), new, body.names) if found else new


def identifiers(text: str) -> list[str]:
    """All names and all other text of a file in turn, without blanks and line breaks: for comparing two files."""
    return [one for one in re.split(r"(\\\S+|\b[A-Za-z_]\w*)|\s+", re.sub(r"//.*", "", text)) if one]


def numbered_share(text: str) -> tuple[int, int]:
    """How many wires and registers have a number instead of a name, and how many there are."""
    declared = re.findall(r"^  (?:wire|reg) (?:\[\d+:0\] )?(\S+)", text, re.MULTILINE)
    return sum(name.startswith("\\$") for name in declared), len(declared)


@dataclass
class _Body:
    """One module: ``names`` are the new ones of its escaped names."""

    text: str
    names: dict[str, str] = field(default_factory=dict)

    def renamed(self, modules: dict[str, str]) -> str:
        """The text with new names."""
        self._taken = {name.removeprefix("\\") for name in _NAME.findall(self.text)}
        self._numbers: dict[str, int] = {}  # that no name with this base has had
        escaped = dict.fromkeys(_ESCAPED.sub(r"\1", name) for name in re.findall(r"\\\S+", self.text))
        relations = Relations()
        statements = [*self._statements()]
        for target, part, value in statements:
            relations.add(target, part, value)
        named = [name for name in escaped if name not in modules and name[0] != "$"]
        wanted = {name: name.partition("$")[0] for name in named if re.fullmatch(r"\w+\$\d+", name)}
        for name in named:
            if _FIELDS.fullmatch(name)[1] not in wanted:  # type: ignore[index]
                self.names[name] = self._plain(name)
        self._tell_apart(wanted, relations)
        for name in named:
            if name not in self.names:
                self.names[name] = self._plain(name)
        self._tell_apart(dict(self._meanings(escaped, statements)), relations)
        lines = (self._line(line, modules) for line in self.text.split("\n"))
        return "\n".join(lines)

    def _line(self, line: str, modules: dict[str, str]) -> str:
        found = _MODULE.match(line) or _INSTANCE.match(line)
        if found and (name := found[1].strip().removeprefix("\\")) in modules:
            start, end = found.span(1)
            line = line[:start] + modules[name] + (" " if found[1].endswith(" ") else "") + line[end:]
        return _ESCAPED.sub(lambda one: self.names[one[1]], line) if "\\" in line else line

    def _tell_apart(self, wanted: dict[str, str], relations: Relations) -> None:
        """Names as wanted; of those that want one name or a taken one, each with what only it feeds or reads."""
        groups: dict[str, list[str]] = {}
        for name, base in wanted.items():
            groups.setdefault(base, []).append(name)
        groups = {base: group for base, group in groups.items() if len(group) > 1 or base in self._taken}
        alike = {one for base, group in groups.items() for one in (base, *group)}
        labels: dict[str, str] = {}
        for group in groups.values():
            labels |= relations.labels(group, alike, lambda one: self.names.get(one, one))
        for name, base in wanted.items():
            self.names[name] = self._free(joined(labels.get(name, ""), base))

    def _plain(self, name: str) -> str:
        """Of a field the new name of what it is a field of, then its own; of a word of the language one like it."""
        if re.fullmatch(r"\w+", name):
            return f"{name}_"  # everywhere the same: it may be a port
        whole, fields = _FIELDS.fullmatch(name).groups()  # type: ignore[union-attr]
        if fields and whole in self.names:
            whole = self.names[whole]
        elif not fields:
            return self._free(whole.partition("$")[0])
        return self._free(f"{whole.partition('$')[0]}{fields}")

    def _free(self, wanted: str) -> str:
        """A name like the wanted one that no other thing in the module has."""
        base = re.sub(r"\W+", "_", wanted).strip("_")
        name, number = base, self._numbers.get(base, 2)
        while name in self._taken:
            name, number = f"{base}_{number}", number + 1
        self._taken.add(name)
        self._numbers[base] = number
        return name

    def _meanings(self, escaped: dict[str, None], statements: list[tuple[str, str, str]]) -> Iterator[tuple[str, str]]:
        """Numbered wires, each with the signal that it is part of and its operation."""
        operations: dict[str, str] = {}
        users: dict[str, str] = {}
        for target, _, value in statements:
            if target[0] == "$":
                operations.setdefault(target, _operation(value))
            for part in _NUMBERED.findall(value):
                if users.get(part, "$")[0] == "$" != target[0] or part not in users:
                    users[part] = target
        for name in sorted(escaped, key=lambda one: (len(one), one)):
            if name[0] == "$":
                signal = name
                for _ in users:
                    if signal not in users or (signal := users[signal])[0] != "$":
                        break
                root = "unused" if signal[0] == "$" else self.names.get(signal, signal)
                operation = operations.get(name, "")
                yield name, "at_start" if name.startswith(_START) else f"{root}_{operation}".rstrip("_")

    def _statements(self) -> Iterator[tuple[str, str, str]]:
        """What gets a value, which part of it, and the value; of a condition the first thing that it decides, of a pin
        its instance."""
        instance, conditions = "", ""
        for line in self.text.split("\n"):
            if found := _PIN.match(line):
                yield f"{instance}_{found[1]}", "", found[2]
            elif found := _INSTANCE.match(line):
                instance = found[2] or "pin"
            elif found := _ASSIGN.match(line):
                target = found[1].removeprefix("\\")
                if conditions:
                    yield target, found[2], f"next {conditions}"
                    conditions = ""
                clocked = line.lstrip().startswith("assign") or " <= " in line
                yield target, found[2], found[3] if clocked else f"next {found[3]}"
            elif "(" in line and _START not in line and "always" not in line and _NUMBERED.search(line):
                conditions += line


def _operation(value: str) -> str:
    """The outermost operation of an expression."""
    if value.startswith("next "):
        return "next"
    while (inner := _GROUP.sub("", value)) != value:
        value = inner
    return next((name for sign, name in _OPERATIONS if sign in value or value.startswith(sign)), "")


def _wrapped(text: str) -> str:
    return "\n".join(line if len(line) <= WIDTH or "//" in line else _broken(line) for line in text.split("\n"))


def _broken(line: str) -> str:
    """A line in pieces, cut behind commas and operators."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    pieces, rest = [], line
    for part in re.split(r"(?<=, )|(?<= [&|^+?:] )", rest):
        if pieces and len(pieces[-1]) + len(part.rstrip()) <= WIDTH:
            pieces[-1] += part
        else:
            pieces.append((indent if pieces else "") + part)
    return "\n".join(piece.rstrip() for piece in pieces)
