"""In which fields a machine differs from its baseline, and the baseline that has the same there (docs/study.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from warpfile.schemes.scheme import Scheme
from warpfile.spec.config import Config


@dataclass(frozen=True)
class Matching:
    """What a machine has other than its baseline, beside fields that only its scheme has.

    ``differs``: by field the machine's value and the baseline's, in the order of the configuration. ``given``: values
    that the matched baseline gets. The others are ``own``, fields that the scheme defines, and ``refused``: fields
    whose value a baseline cannot have, with the reason.
    """

    differs: Mapping[str, tuple[object, object]] = field(default_factory=dict)
    given: Mapping[str, object] = field(default_factory=dict)
    own: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """All of it in one line; empty if nothing differs."""
        parts = [self._said(self.given)]
        parts += [f"of the scheme: {self._said(self.own)}"] if self.own else []
        parts += [f"refused by a baseline: {self._said(self.refused)}"] if self.refused else []
        return "; ".join(filter(None, parts))

    def _said(self, names: Mapping[str, object] | tuple[str, ...]) -> str:
        values = ((name, *self.differs[name]) for name in names)
        return ", ".join(f"{name} {ours} (baseline {theirs})" for name, ours, theirs in values)

    def to_json(self) -> dict[str, object]:
        """By field the two values, and whether the matched baseline has the machine's: yes, or why not."""
        own = dict.fromkeys(self.own, "defined by the scheme")
        matched = {**dict.fromkeys(self.given, "yes"), **own, **self.refused}
        return {
            name: {"value": ours, "baseline": theirs, "matched": matched[name]}
            for name, (ours, theirs) in self.differs.items()
        }


def matching(scheme: Scheme, cfg: Config, base: Config, make: Callable[[Mapping[str, object]], Config]) -> Matching:
    """Of a scheme's configuration and that of its baseline. ``make`` makes the baseline with further changes."""
    ours = {**cfg.common().to_json(), **cfg.stands_for}
    theirs = base.common().to_json()
    differs = {name: (ours[name], theirs[name]) for name in theirs if ours[name] != theirs[name]}
    own = tuple(name for name in differs if name in scheme.defines)
    given, refused = _possible({name: ours[name] for name in differs if name not in own}, make)
    return Matching(differs, given, own, refused)


def _possible(
    wanted: Mapping[str, object], make: Callable[[Mapping[str, object]], Config]
) -> tuple[dict[str, object], dict[str, str]]:
    """Of some changes those that a baseline can have together, and why it refuses the others."""
    try:
        make(wanted)
        return dict(wanted), {}
    except ValueError:
        pass
    given: dict[str, object] = {}
    refused: dict[str, str] = {}
    for name, value in wanted.items():
        try:
            make({**given, name: value})
            given[name] = value
        except ValueError as error:
            refused[name] = str(error)
    return given, refused
