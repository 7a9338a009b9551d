"""Charts as SVG, drawn by Chromium without a network: the same file for the same chart."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from warpfile import tools
from warpfile.output.display import Report
from warpfile.output.files import file_name
from warpfile.results.reports.chart import Chart

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ID = re.compile(r'\bid="([^"]+)"')
_SECONDS = 90  #: for the browser to answer


def pictures(charts: Sequence[Chart], report: Report) -> dict[str, str]:
    """SVG by file name, of every chart and of what its reader can choose in it.

    Raises ``ValueError`` where kaleido or Chromium is missing, or does not answer.
    """
    if find_spec("kaleido") is None:
        raise ValueError("--svg needs kaleido: pip install 'warpfile[report]'")
    from choreographer.errors import BrowserClosedError, BrowserFailedError, ChromeNotFoundError

    wanted = dict(_figures(charts))
    try:
        return asyncio.run(_drawn(wanted, report))
    except ChromeNotFoundError:
        raise ValueError(tools.missing("chromium")) from None
    except (BrowserClosedError, BrowserFailedError, TimeoutError) as error:
        raise ValueError(f"Chromium must start and answer: {type(error).__name__}") from None


def _figures(charts: Sequence[Chart]) -> Iterator[tuple[str, Figure]]:
    """By file name; what is chosen in a chart has no menu to choose any more."""
    for chart in charts:
        yield f"{file_name(chart.name)}.svg", chart.figure
        for what, figure in chart.pictures.items():
            yield f"{file_name(f'{chart.name}-{what}')}.svg", figure


async def _drawn(wanted: dict[str, Figure], report: Report) -> dict[str, str]:
    from kaleido import Kaleido

    found = {}
    async with Kaleido(mathjax=False, timeout=_SECONDS) as browser:
        for number, (name, figure) in enumerate(wanted.items()):
            report(name, number, len(wanted))
            drawn: bytes = await browser.calc_fig(_plain(figure), opts=_options(figure))
            found[name] = with_stable_ids(drawn.decode())
    return found


def _options(figure: Figure) -> Any:
    return {"format": "svg", "width": figure.layout.width, "height": figure.layout.height}


def _plain(figure: Figure) -> dict[str, Any]:
    facts: dict[str, Any] = figure.to_dict()
    facts["layout"].pop("updatemenus", None)
    for number, trace in enumerate(facts["data"]):
        trace["uid"] = f"trace{number}"  # made up at random, too
    return facts


def with_stable_ids(svg: str) -> str:
    """The picture with names of its parts that do not change: the library makes them up at random."""
    names = dict.fromkeys(_ID.findall(svg))
    for number, name in enumerate(sorted(names, key=lambda one: svg.index(f'id="{one}"'))):
        svg = re.sub(rf"""(?<=["'#]){re.escape(name)}(?=["')])""", f"part{number}", svg)
    return svg
