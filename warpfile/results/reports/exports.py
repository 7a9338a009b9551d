"""The figures of a report for other programs: its table as LaTeX, its values by kernel as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping

from warpfile.results.reports.facts import TITLES, Facts, cell
from warpfile.results.reports.measures import MEASURES
from warpfile.results.reports.source import Machine, Study

_SPECIAL = {one: f"\\{one}" for one in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}"}
_LATEX = re.compile("|".join(map(re.escape, _SPECIAL)))
_LEFT_OUT = "area from"  #: a remark, no figure


def latex(study: Study, facts: Mapping[Machine, Facts]) -> str:
    """The table of all machines for the package booktabs: means, ± half of the 95 % interval over seeds.

    A column in which no machine has a value is left out.
    """
    titles = [
        one for one in TITLES if one != _LEFT_OUT and any(row.values.get(one) is not None for row in facts.values())
    ]
    lines = [
        rf"\begin{{tabular}}{{ll{'r' * len(titles)}}}",
        r"\toprule",
        _row(["machine", "preset", *titles]),
        r"\midrule",
    ]
    for machine, row in facts.items():
        cells = [cell(title, row.values.get(title), over_kernels=False) for title in titles]
        lines.append(_row([study.names[machine], machine.preset, *cells]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _row(cells: list[str]) -> str:
    return (
        " & ".join(_LATEX.sub(lambda found: _SPECIAL[found[0]], cell) for cell in cells).replace("±", r"$\pm$") + r" \\"
    )


def pivot(study: Study) -> str:
    """CSV with a row per measure and kernel and a column per machine: means over seeds.

    Growths and ratios are fractions. The row without a kernel has the mean over all kernels of each machine. A cell
    without a value is empty.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["measure", "kernel", "setting", *(study.names[one] for one in study.machines)])
    for measure in MEASURES:
        for kernel in (*study.kernels, None):
            values = [measure.of(study.of(machine), kernel) for machine in study.machines]
            if any(values):
                cells = ["" if value is None else repr(value.mean) for value in values]
                table.writerow([measure.title, *(kernel or ("", "")), *cells])
    return text.getvalue()
