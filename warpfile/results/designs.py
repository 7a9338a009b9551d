"""Machines that a request names: schemes, parts, a preset and changed fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TypeVar

import click

from warpfile.output.display import printable
from warpfile.schemes import SCHEMES, Part, Scheme, composed, find, variants
from warpfile.schemes.fit import check
from warpfile.schemes.matching import Matching, matching
from warpfile.spec.config import Config, parse_field
from warpfile.spec.presets import PRESETS
from warpfile.spec.suggestions import suggestion

Some = TypeVar("Some")
Result = TypeVar("Result")
ALL = "all"
BASELINE = "baseline"


@dataclass(frozen=True)
class Design:
    """A scheme in the configuration that the command line asks for."""

    scheme: Scheme
    preset: str
    config: Config
    changes: Mapping[str, object] = field(default_factory=dict)

    @property
    def baseline(self) -> Design:
        """The baseline that it is compared with: the same preset with the same changes, as far as they concern it.

        A scheduler that the command line asks for is one of them, unless it needs what only the scheme's parts offer.
        """
        names = {spec.name for spec in fields(Config)}
        scheme = _scheduled(SCHEMES[BASELINE], self.scheme.scheduler)
        changes = {name: value for name, value in self.changes.items() if name in names}
        return Design(scheme, self.preset, scheme.configuration(self.preset, **changes), changes)

    @property
    def matching(self) -> Matching:
        """In which fields it differs from that baseline."""
        base = self.baseline
        return matching(self.scheme, self.config, base.config, lambda changes: base.with_changes(changes).config)

    @property
    def matched(self) -> Design:
        """The baseline that differs in the scheme alone, as far as a baseline can."""
        return self.baseline.with_changes(self.matching.given)

    def with_changes(self, changes: Mapping[str, object]) -> Design:
        """The same with further changes. Raises ``ValueError`` for impossible ones."""
        both = {**self.changes, **changes}
        return Design(self.scheme, self.preset, self.scheme.configuration(self.preset, **both), both)


def _scheduled(scheme: Scheme, scheduler: Part | None) -> Scheme:
    """The scheme with this scheduler, if that fits its parts."""
    found = composed(scheme, [scheduler] if scheduler else [])
    try:
        check(found.name, found.chosen)
    except ValueError:
        return scheme
    return found


@dataclass(frozen=True)
class Choice:
    """Designs that a command line asks for, and what ``all`` stands for in vain: why, by the scheme's name.

    ``named`` are schemes that were named outright, which must fit.
    """

    designs: list[Design] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    named: frozenset[str] = frozenset()

    @classmethod
    def naming(cls, names: Collection[str], parts: Sequence[str]) -> Choice:
        """Nothing yet, for these names with these parts."""
        outright = [name for name in names if name != ALL]
        return cls(named=frozenset(scheme.name for scheme in chosen_schemes(outright, parts)))

    def of(self, some: Mapping[str, Some], work: Callable[[Some], Result]) -> dict[str, Result]:
        """What comes of every scheme, by its name; one that refuses the work, by a ``ValueError``, is left out.

        Raises the error of a scheme that was named outright, and the first where nothing comes of any.
        """
        found, errors = {}, []
        for name, one in some.items():
            try:
                found[name] = work(one)
            except ValueError as error:
                errors.append(error)
                if name in self.named:
                    raise
                self.left_out[name] = re.sub(rf"^{re.escape(name)}(, preset \w+)?: ", "", str(error))
        if not found:
            raise errors[0]
        return found

    def each(self, work: Callable[[Design], Result]) -> list[Result]:
        """What comes of every design, as :meth:`of` does it; the designs that are left are those it came of."""
        designs = {one.scheme.name: one for one in self.designs}
        found = self.of(designs, work)
        self.designs[:] = [designs[name] for name in found]
        return list(found.values())

    def report_left_out(self) -> None:
        """One line on standard error with the machines left out and the reasons; none if there are none."""
        reasons: dict[str, list[str]] = {}
        for name, reason in self.left_out.items():
            short = reason.removeprefix("parts must fit: ").partition(": ")[0]
            reasons.setdefault(short, []).append(name)
        if reasons:
            said = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())
            click.echo(f"warpfile: left out: {printable(said)}", err=True)


def designs(
    names: Sequence[str], preset: str | None, changes: Sequence[str], parts: Sequence[str] = ()
) -> list[Design]:
    """The schemes with these parts that fit, each with its configuration; otherwise like :func:`chosen`."""
    return chosen(names, preset, changes, parts).designs


def chosen(names: Sequence[str], preset: str | None, changes: Sequence[str], parts: Sequence[str] = ()) -> Choice:
    """The schemes with these parts, each with its configuration; what only ``all`` names and does not fit is left out.

    A field that only some of several schemes have is changed in those. Raises :class:`click.UsageError` and
    ``ValueError`` for a scheme named outright that does not fit, and where none fits. Of several, the error names the
    one.
    """
    schemes = {scheme.name: scheme for scheme in chosen_schemes(names, parts)}
    choice = Choice.naming(names, parts)
    possible = choice.of(schemes, _fields)
    known = {name for names in possible.values() for name in names}
    own = {name: [one for one in changes if _concerns(some, one, known)] for name, some in possible.items()}
    for name, some in own.items():
        _parsed(schemes[name], some)  # a value that cannot be read is wrong, whatever part has the field

    def made(scheme: Scheme) -> Design:
        try:
            return design(scheme, preset, own[scheme.name])
        except ValueError as error:
            if len(schemes) == 1 or str(error).startswith(f"{scheme.name}:"):
                raise
            raise ValueError(f"{scheme.name}, preset {preset or scheme.preset}: {error}") from None

    choice.designs.extend(choice.of({name: schemes[name] for name in possible}, made).values())
    return choice


def _fields(scheme: Scheme) -> set[str]:
    return {spec.name for spec in fields(scheme.parameters)}


def _concerns(own: Collection[str], change: str, known: Collection[str]) -> bool:
    """Whether a change is for a scheme with its own fields, of all known ones, to apply or to refuse."""
    name = change.partition("=")[0].strip()
    return name not in known or name in own


def chosen_schemes(names: Collection[str], parts: Sequence[str] = ()) -> list[Scheme]:
    """Schemes by name in the order given, each once; ``all`` stands for the whole table, which is without variants.

    All get the same parts.
    """
    wanted: dict[str, Scheme] = {}
    for name in names:
        known = name == ALL or name.partition("+")[0] in SCHEMES
        if not known:
            names = (*SCHEMES, *variants())
            raise click.UsageError(
                f"SCHEME must be one of {', '.join(names)} or {ALL}, not {name!r}{suggestion(name, names)}"
            )
        for one in SCHEMES if name == ALL else (name,):
            scheme = find("+".join((one, *parts)))
            wanted[scheme.name] = scheme
    return list(wanted.values())


def design(scheme: Scheme, preset: str | None, changes: Sequence[str]) -> Design:
    """One scheme's configuration: its own preset or the named one, with single fields changed."""
    name = preset or scheme.preset
    if name not in PRESETS:
        raise click.UsageError(f"--preset must be one of {', '.join(PRESETS)}, not {name!r}")
    values = _parsed(scheme, changes)
    return Design(scheme, name, scheme.configuration(name, **values), values)


def _parsed(scheme: Scheme, changes: Sequence[str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals:
            raise click.UsageError(f"--set must be FIELD=VALUE, not {change!r}")
        values[key.strip()] = parse_field(key.strip(), text.strip(), scheme.parameters)
    return values
