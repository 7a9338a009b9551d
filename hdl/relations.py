"""What tells nets apart that would have one name: what they feed, or what they are computed from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

LONGEST = 48  #: of a name made of two
_READ = re.compile(r"(\\\S+|\b[A-Za-z_]\w*) ?(?:\[([^]]*)\])?")
_ELEMENT = re.compile(r"(\d+)\*\d+|(\d+)(?=\D|$)")
End = tuple[str, str]  #: a net and which bits of it, both plain


@dataclass
class Relations:
    """Of the nets of a module, the nets that read them and those that they read, with what part, in textual order."""

    users: dict[str, dict[End, None]] = field(default_factory=dict)
    sources: dict[str, dict[End, None]] = field(default_factory=dict)

    def add(self, target: str, part: str, value: str) -> None:
        """A target, of which ``part`` stands in brackets, gets a value."""
        for name, bits in _READ.findall(re.sub(r"\d*'s?[bdoh]\w+", "", value)):
            read = name.removeprefix("\\")
            self.users.setdefault(read, {})[target, _place(part)] = None
            self.sources.setdefault(target, {})[read, _place(bits)] = None

    def labels(self, members: Sequence[str], alike: set[str], plain: Callable[[str], str]) -> dict[str, str]:
        """Of members that what they feed or read tells apart, a name for that, first by what tells most of them.
        No name is that of a net among those ``alike``."""
        ways: list[Callable[[str], Iterable[End]]] = [
            lambda name: self.users.get(name, ()),
            lambda name: self.sources.get(name, ()),
            lambda name: reversed(self.sources.get(name, {})),
        ]
        found = [{name: _label(_nearest(name, way, alike), plain) for name in members} for way in ways]
        found += [{name: f"{one[name]}_{found[0][name]}".strip("_") for name in members} for one in found[1:]]
        told: dict[str, str] = {}
        for _ in found:
            apart = [_apart({name: way[name] for name in members if name not in told}, told) for way in found]
            told |= max(apart, key=len)
        return told


def _apart(labels: dict[str, str], told: dict[str, str]) -> dict[str, str]:
    """Those of the labels that only one has."""
    counts = Counter((*labels.values(), *told.values(), ""))
    return {name: label for name, label in labels.items() if label and counts[label] == 1}


def _place(part: str) -> str:
    """Of an element its number; of other bits theirs."""
    found = _ELEMENT.match(part.strip("[] "))
    if not found:
        return ""
    return found[1] or "_".join(re.findall(r"\d+", part))


def _nearest(name: str, way: Callable[[str], Iterable[End]], alike: set[str]) -> End | None:
    seen, front = {name}, [name]
    while front:
        after = []
        for one in front:
            for end in way(one):
                if end[0] not in alike and end[0][0] != "$":
                    return end
                if end[0] not in seen:
                    seen.add(end[0])
                    after.append(end[0])
        front = after
    return None


def _label(end: End | None, plain: Callable[[str], str]) -> str:
    return f"{plain(end[0])}_{end[1]}".rstrip("_") if end else ""


def joined(label: str, base: str) -> str:
    """Both in one name, without saying the same twice; the base alone where that is too long."""
    stem = re.sub(r"_\d+$", "", label)
    rest = base.removeprefix(f"{stem}_") if base != stem else ""
    name = f"{label}_{rest}" if label and rest else base
    return name if len(name) <= LONGEST else base
