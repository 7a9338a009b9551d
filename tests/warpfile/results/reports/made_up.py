"""Studies whose figures are known by hand."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warpfile.results.reports.source import Row, Study
from warpfile.results.studies.table import write_table


def row(scheme: str = "bow", kernel: str = "saxpy", seed: int = 0, **more: Any) -> dict[str, Any]:
    """A point of a study at tiny, beside its baseline."""
    point = {"study": "made", "kernel": kernel, "setting": "launch", "seed": seed, "scheme": scheme}
    return point | {"preset": "tiny", "changes": "", "status": "ok", "error": "", "baseline": "baseline"} | more


def study(*rows: Mapping[str, Any], **more: Any) -> Study:
    """A study of these rows, each with the columns of all."""
    names = dict.fromkeys(name for one in rows for name in one)
    return Study("made", [{name: one.get(name) for name in names} for one in rows], **more)


def random_study(seed: int, schemes: Sequence[str] = ("baseline", "bow", "malekeh", "rfc")) -> Study:
    """Every scheme on three kernels at five seeds; the baseline is equal to itself."""
    rng = random.Random(seed)
    rows = []
    for scheme in schemes:
        for kernel in ("saxpy", "spmv", "stencil"):
            for number in (-4, -2, 0, 2, 4):
                ratios = [1.0 if scheme == "baseline" else rng.uniform(0.5, 1.5) for _ in range(4)]
                rows.append(row(scheme, kernel, number, **_columns(ratios, rng)))
    return study(*rows)


def _columns(ratios: Sequence[float], rng: random.Random) -> dict[str, Any]:
    names = ("ipc_over_baseline", "bank_accesses_over_baseline", "energy_over_baseline", "ipc_over_matched")
    counts = dict(
        zip(("beats", "issue_hazard", "issue_room", "issue_barrier"), rng.sample(range(100, 999), 4), strict=True)
    )
    counts |= {"issue_idle": 7, "issue_full": counts["issue_room"] // 3}
    cycles = sum(counts.values()) - counts["issue_full"]
    found = {**dict(zip(names, ratios, strict=True)), "ipc": rng.random(), "hit_ratio": rng.random()}
    found |= {"energy_prices": "pilot", "energy_priced": 0.5, "cycles": cycles}
    return found | {f"counter_{name}": count for name, count in counts.items()}


def written(made: Study, folder: Path) -> Path:
    """The folder of a study, as ``warpfile study`` writes it."""
    for name, rows in (("results", made.rows), ("modules", made.modules), ("pipeline_log", made.pipeline_log)):
        if rows:
            write_table([dict(one) for one in rows], folder / name)
    if made.about:
        (folder / "study.json").write_text(json.dumps(made.about))
    return folder


def logged_beat(warp: int, beat: int, decoded: int, *events: int | None, **more: Any) -> Row:
    """A beat of matmul_tiled under bow that is issued, offered, dispatched and written in these cycles."""
    names = ("issued", "offered", "dispatched", "written")
    cycles = dict(zip(names, (*events, *[None] * (4 - len(events))), strict=True))
    place = {"study": "made", "kernel": "saxpy", "setting": "launch", "seed": 0, "scheme": "bow", "preset": "tiny"}
    shape = {"changes": "", "warp": warp, "beat": beat, "offset": 16 * beat, "instruction": "FADD R0, R1, R2"}
    return {**place, **shape, "unit": True, "returns": True, "decoded": decoded, **cycles, **more}


_CALL = re.compile(r'Plotly\.newPlot\(\s*"chart-([^"]+)",\s*')


def drawn(page: str) -> dict[str, list[dict[str, Any]]]:
    """Traces of every chart in the text of a page, by the chart's name."""
    decoder = json.JSONDecoder()
    return {found[1]: decoder.raw_decode(page, found.end())[0] for found in _CALL.finditer(page)}
