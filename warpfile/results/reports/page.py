"""One self-contained HTML page: what the data are, a table of all machines, and the charts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.metadata import version
from importlib.resources import files

from warpfile.results.reports.chart import Chart
from warpfile.results.reports.facts import TITLES, Facts, cell, left_out
from warpfile.results.reports.measures import prices
from warpfile.results.reports.source import Machine, Study, kernel_names
from warpfile.synth.arrays import NAME as CACTI

#: What a reader can do with a chart. Its picture is SVG, for a paper.
_CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "sendChartToCloud"]}


def page(study: Study, facts: Mapping[Machine, Facts], charts: Sequence[Chart]) -> str:
    """The text of the page; the same for the same study."""
    from plotly.offline import get_plotlyjs

    title = f"warpfile report: {study.name}"
    parts = (*_head(title), *_data(study, facts), *_table(study, facts), *map(_section, charts), *_refused(study))
    style = files("warpfile.results.reports").joinpath("page.css").read_text()
    return "\n".join(
        (
            "<!DOCTYPE html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
            '<meta name="viewport" content="width=device-width">',
            f"<style>\n{style}</style>",
            f"<script>{get_plotlyjs()}</script>",
            "</head><body>",
            *parts,
            "</body></html>\n",
        )
    )


def _head(title: str) -> Iterator[str]:
    yield f"<h1>{escape(title)}</h1>"
    yield (
        '<p class="how">Every chart can be zoomed by dragging; the camera in its corner saves it as SVG, a click on the'
        " legend hides a row. <code>warpfile report --svg DIR</code> writes all of them.</p>"
    )


def _data(study: Study, facts: Mapping[Machine, Facts]) -> Iterator[str]:
    """What the page is made of."""
    ok = sum(map(len, map(study.of, study.machines)))
    about, unknown = study.about or {}, "not recorded"
    code = escape(json.dumps(about.get("asked"), ensure_ascii=False))
    said = {
        "Points": f"{len(study.rows):,}: {len(study.machines)} machines, {len(study.kernels)} kernels,"
        f" {len(study.seeds)} seeds; {ok:,} ran, {len(study.left_out):,} were refused or failed (below)",
        "Kernels": ", ".join(kernel_names(study.kernels).values()),
        "Settings": ", ".join(dict.fromkeys(setting for _, setting in study.kernels)),
        "Seeds": f"{', '.join(map(str, study.seeds))}: cycles added to the latency of misses."
        + ("" if len(study.seeds) > 1 else " One seed says nothing of chance: there are no intervals."),
        "Energy": _energy(study),
        "Areas": _areas(facts),
        "Asked for": f"<code>{code}</code>" if about else unknown,
        "Versions": ", ".join(f"{tool} {number}" for tool, number in about.get("versions", {}).items()) or unknown,
        "Sources": ", ".join(f"{kind} {code}" for kind, code in about.get("sources", {}).items()) or unknown,
        "Page": f"warpfile {version('warpfile')}, plotly {version('plotly')}",
    }
    marked = ("Energy", "Asked for")
    rows = (f"<dt>{name}</dt><dd>{what if name in marked else escape(what)}</dd>" for name, what in said.items())
    yield f"<h2>What the data are</h2>\n<dl>{''.join(rows)}</dl>"


def _energy(study: Study) -> str:
    """What the energies are, and who has none."""
    found = prices(study.rows)
    if not found:
        return "none in this study"
    memories = " The prices of cacti cover accesses and leakage of memories, but not flip-flops and wires."
    without = [name for machine, name in study.names.items() if not prices(study.of(machine))]
    none = f" It has no price of a memory of {escape(', '.join(without))}." if without else ""
    return (
        f"one set of prices for all rows, {escape(found)} (docs/energy.md); accesses without a price are not in the"
        f" sum, and <i>priced</i> is the share that is.{memories if found == CACTI else ''}{none}"
    )


def _areas(facts: Mapping[Machine, Facts]) -> str:
    origins = dict.fromkeys(one.cost.origin for one in facts.values() if one.cost)
    libraries = dict.fromkeys(one.cost.path_liberty for one in facts.values() if one.cost and one.cost.path_liberty)
    paths = f"; critical paths with {', '.join(libraries)}, without wires" if libraries else "; no critical paths"
    return f"{' and '.join(origins)} (docs/area.md, docs/cost.md){paths}" if origins else "none"


def _table(study: Study, facts: Mapping[Machine, Facts]) -> Iterator[str]:
    """A row per machine with all means."""
    head = "".join(f"<th>{title}</th>" for title in ("machine", "preset", *TITLES))
    yield f"<h2>All machines</h2>\n<table><thead><tr>{head}</tr></thead><tbody>"
    for machine, one in facts.items():
        values = (cell(title, value, over_kernels=True) for title, value in one.values.items())
        cells = (study.names[machine], machine.preset, *values)
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
    yield "</tbody></table>"
    yield (
        "<p>Growths are over the baseline at the same preset, ± half of the 95 % t-interval of the mean over seeds;"
        " [low, high] is its 95 % bootstrap interval over kernels, and a growth is undecided where that holds zero."
        " * kept figures of the scheme (<code>synth/figures</code>), not of this study.</p>"
    )
    yield from _differences(study, facts)
    hits = _named(study, {machine: one.hits for machine, one in facts.items()})
    meanings = (f"{names}: {what}" for what, names in hits.items())
    yield f"<p>What counts as a hit depends on the scheme. {escape('; '.join(meanings))}.</p>" if hits else ""


def _differences(study: Study, facts: Mapping[Machine, Facts]) -> Iterator[str]:
    """In which fields machines differ from their baselines."""
    if found := _named(study, {machine: one.differs for machine, one in facts.items()}):
        lines = "".join(f"<li>{escape(names)}: {escape(what)}</li>" for what, names in found.items())
        yield (
            "<p>In these fields machines differ from the baseline at their preset. The matched baseline has the same"
            f" value there, unless the scheme defines the field.</p>\n<ul>{lines}</ul>"
        )


def _named(study: Study, said: Mapping[Machine, str]) -> dict[str, str]:
    """What is said, with the names of the machines of which it is."""
    found: dict[str, list[str]] = {}
    for machine, what in said.items():
        if what:
            found.setdefault(what, []).append(study.names[machine])
    return {what: ", ".join(names) for what, names in found.items()}


def _section(chart: Chart) -> str:
    figure = chart.figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=f"chart-{chart.name}",
        config={**_CONFIG, "toImageButtonOptions": {"format": "svg", "filename": chart.name}},
    )
    return (
        f'<section id="{escape(chart.name)}"><h2>{escape(chart.title)}</h2>\n<p>{chart.caption}</p>\n'
        f'{figure}\n<p class="silent"><b>What it cannot show.</b> {escape(chart.silent)}</p></section>'
    )


def _refused(study: Study) -> Iterator[str]:
    """Points that are in no chart, with their reasons."""
    if study.left_out:
        lines = "".join(f"<li>{escape(line)}</li>" for line in left_out(study))
        yield f"<h2>Points that did not run</h2>\n<ul>{lines}</ul>"
