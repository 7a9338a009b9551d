"""A profile as people read it in a terminal: tables, and the listing with what each instruction cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from warpfile.output.display import printable, say, show_table, write
from warpfile.results.profiles.profile import REASONS, Profile

_LONGEST = 28  #: characters of an instruction in a table


def show(profile: Profile, chosen: Sequence[int], column: str) -> None:
    """Print the run, what the chosen lines cost, what they waited for, and their operands."""
    run = profile.run
    say(f"{run.scheme} on {run.kernel}, {run.preset}: {run.cycles:,} cycles, IPC {run.ipc:.4g}")
    say(f"{len(chosen)} of {sum(1 for one in profile.lines if one.offset is not None)} instructions, by {column}:")
    head = ("offset", "instruction", "issued", "cycles", "share", "waits", "mostly")
    show_table(head, (_cost(profile, line) for line in chosen))
    _show_columns(profile, chosen, "waits", list(REASONS))
    _show_columns(profile, chosen, "operands", profile.operands)
    means = ((*_name(profile, line), *_means(profile, line)) for line in chosen)
    show_table(("offset", "beats", "cycles to dispatch", "to last result"), means)


def _cost(profile: Profile, line: int) -> tuple[object, ...]:
    waited = profile.waited(line)
    most = next(iter(waited), None)
    mostly = f"{most.removeprefix('wait_')} {waited[most] / sum(waited.values()):.0%}" if most else "-"
    issued, cycles, waits = (profile.of(name, line) for name in ("issued", "cycles", "waits"))
    return (*_name(profile, line), issued, cycles, share(profile, line), waits, mostly)


def _name(profile: Profile, line: int) -> tuple[str, str]:
    one = profile.lines[line]
    return one.place, one.text if len(one.text) <= _LONGEST else f"{one.text[: _LONGEST - 3]}..."


def _means(profile: Profile, line: int) -> Iterator[str]:
    for name in ("to_dispatch", "to_result"):
        mean = profile.mean(name, line)
        yield "-" if mean is None else f"{mean:.1f}"


def share(profile: Profile, line: int) -> str:
    """Of the run's issue slots, those of a line."""
    return f"{profile.of('cycles', line) / (profile.total('cycles') or 1):.1%}"


def _show_columns(profile: Profile, chosen: Iterable[int], what: str, names: Sequence[str]) -> None:
    """A table of columns that are not zero in all of the chosen lines, with the sum over all lines below."""
    lines = list(chosen)
    some = [name for name in names if any(profile.of(name, line) for line in lines)]
    if not some:
        return
    rows = [(*_name(profile, line), *(profile.of(name, line) for name in some)) for line in lines]
    every = ("all", "", *(profile.total(name) for name in some))
    show_table(("offset", what, *(name.removeprefix("wait_") for name in some)), [*rows, every])


def show_listing(profile: Profile) -> None:
    """Print all lines in the order of the listing, each behind what it cost."""
    head = ("issued", "cycles", "share", "waits", "conflicts", "to dispatch")
    rows = [(*_costs(profile, line), *_whole(profile, line)) for line in range(len(profile.lines))]
    widths = [max(map(len, column)) for column in zip(head, *(row[: len(head)] for row in rows), strict=True)]
    indent = " " * (sum(widths) + 2 * len(widths))
    for line, row in enumerate(((*head, "offset", "instruction"), *rows), -1):
        write(*(f"{indent}{printable(label)}:" for label in profile.labels_at(line)))
        numbers = "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=False))
        write(f"{numbers}  {row[-2]:<6}  {printable(row[-1])}".rstrip())


def _costs(profile: Profile, line: int) -> tuple[str, ...]:
    conflicts = profile.of("bank_conflicts", line) if "bank_conflicts" in profile.operands else 0
    to_dispatch, _ = _means(profile, line)
    counts = (profile.of("issued", line), profile.of("cycles", line))
    texts = (*(f"{count:,}" for count in counts), share(profile, line), f"{profile.of('waits', line):,}")
    return (*texts, f"{conflicts:,}", to_dispatch)


def _whole(profile: Profile, line: int) -> tuple[str, str]:
    return profile.lines[line].place, profile.lines[line].text
