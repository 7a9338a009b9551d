"""A profile as one self-contained HTML page: the listing, and bars beside every instruction. There are no scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.metadata import version
from importlib.resources import files

from warpfile.results.profiles.profile import LOST, REASONS, Profile
from warpfile.results.profiles.terminal import share
from warpfile.results.reports.style import COLOURS

_WIDTH = 170  #: pixels of the longest bar of a column
#: What a bar is made of: title, and columns that are put behind each other.
_OPERANDS = ("bank_reads", "bypassed_reads", "source_hits", "cache_hits", "coalesced", "rfc_hits", "forwards")
_OPERANDS += ("orf_reads", "lrf_reads")
_STYLE = """
body { width: auto; margin: 1.5em; }
pre { margin: 0; font: 12px/1.3 "Liberation Mono", monospace; white-space: pre; }
td { padding: 0.1em 0.5em; }
td.number { text-align: right; }
.bar { display: flex; height: 12px; }
.bar i, .key i { display: block; height: 12px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.key { display: inline-flex; align-items: center; gap: 0.35em; margin-right: 1em; font-size: 0.85em; }
.key i { width: 12px; }
"""


def page(profile: Profile) -> str:
    """The text of the page; the same for the same profile."""
    run = profile.run
    title = f"warpfile profile: {run.scheme} on {run.kernel}"
    bars = _bars(profile)
    looks = [rule for names in bars.values() for rule in _looks(names)]
    style = files("warpfile.results.reports").joinpath("page.css").read_text() + _STYLE + "\n".join(looks)
    parts = (*_about(profile), *_keys(profile, bars), *_table(profile, bars))
    return "\n".join(
        (
            "<!DOCTYPE html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
            f'<meta name="viewport" content="width=device-width"><style>\n{style}\n</style></head><body>',
            f"<h1>{escape(title)}</h1>",
            *parts,
            "</body></html>\n",
        )
    )


def _bars(profile: Profile) -> dict[str, tuple[str, ...]]:
    """Titles of the bars with their columns, of those that are counted at all."""
    near = [name for name in _OPERANDS if name in profile.operands]
    wanted = {
        "issue slots": ("issued", *LOST),
        "warps wait": tuple(REASONS),
        "operands": tuple(near),
        "bank conflicts": ("bank_conflicts",) if "bank_conflicts" in profile.operands else (),
        "to dispatch": ("to_dispatch",),
    }
    some = {title: tuple(name for name in names if profile.total(name)) for title, names in wanted.items()}
    return {title: names for title, names in some.items() if names}


def _looks(names: Sequence[str]) -> Iterator[str]:
    """A rule of style for each piece of a bar: a colour, in a second round with stripes."""
    for number, name in enumerate(names):
        colour, plain = COLOURS[number % len(COLOURS)], number < len(COLOURS)
        fill = colour if plain else f"repeating-linear-gradient(45deg, {colour} 0 3px, #fff 3px 5px)"
        yield f".{name} {{ background: {fill}; }}"


def _about(profile: Profile) -> Iterator[str]:
    run = profile.run
    said = {
        "Machine": f"{run.scheme}, preset {run.preset}, domain {run.config.domain}, {run.config.lanes} lanes",
        "Run": f"{run.cycles:,} cycles, {run.instructions:,} instructions, IPC {run.ipc:.4g}",
        "Page": f"warpfile {version('warpfile')}; docs/profile.md defines every column",
    }
    yield f"<dl>{''.join(f'<dt>{name}</dt><dd>{escape(what)}</dd>' for name, what in said.items())}</dl>"


def _keys(profile: Profile, bars: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What the colours mean, with the sums over all lines."""
    for title, names in bars.items():
        keys = "".join(
            f'<span class="key"><i class="{name}"></i>{escape(_called(name))} {profile.total(name):,}</span>'
            for name in names
        )
        yield f"<p><b>{title}:</b> {keys}</p>"


def _called(name: str) -> str:
    return f"waits {REASONS[name]}" if name in REASONS else name.replace("_", " ")


def _table(profile: Profile, bars: Mapping[str, Sequence[str]]) -> Iterator[str]:
    heads = ("offset", "instruction", "issued", "share", *bars)
    yield "<table><thead><tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr></thead><tbody>"
    everything = range(len(profile.lines))
    longest = {
        title: max(sum(profile.of(name, line) for name in names) for line in everything)
        for title, names in bars.items()
    }
    for line in everything:
        one = profile.lines[line]
        for label in profile.labels_at(line):
            yield f'<tr><td></td><td colspan="{len(heads) - 1}"><pre>{escape(label)}:</pre></td></tr>'
        texts = "".join(f"<td><pre>{escape(text)}</pre></td>" for text in (one.place, one.text))
        numbers = (f"{profile.of('issued', line):,}", share(profile, line))
        cells = "".join(f'<td class="number">{number}</td>' for number in numbers) + "".join(
            f"<td>{_bar(profile, line, names, longest[title])}</td>" for title, names in bars.items()
        )
        yield f"<tr>{texts}{cells}</tr>"
    yield "</tbody></table>"


def _bar(profile: Profile, line: int, names: Sequence[str], longest: int) -> str:
    counts = {name: profile.of(name, line) for name in names}
    pieces = "".join(
        f'<i class="{name}" style="width:{count / longest * _WIDTH:.1f}px" title="{_called(name)}: {count:,}"></i>'
        for name, count in counts.items()
        if count
    )
    return f'<div class="bar">{pieces}</div>'
