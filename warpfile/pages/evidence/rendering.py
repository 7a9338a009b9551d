"""Text of a page and of the summary, from data alone: docs/evidence.md, "Data, and pages that are too old"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warpfile.pages.evidence.metrics import KINDS
from warpfile.pages.evidence.verdict import WORDS
from warpfile.results.figure import MEANS
from warpfile.results.markdown import table
from warpfile.results.revision import MACHINE, warning

Data = Mapping[str, Any]


def page(data: Data, paper: str, left: Sequence[str]) -> str:
    """The page of a scheme. ``left``: what the paper says and nothing here is compared with."""
    return (
        "\n".join((*_head(data, paper), *_claims(data), *_suites(data), *_steps(data), *_kernels(data), *_left(left)))
        + "\n"
    )


def _head(data: Data, paper: str) -> Iterator[str]:
    name = data["scheme"]
    yield f"# `{name}` beside its paper\n"
    if data["machine"] < MACHINE:
        yield f"{warning(data['machine'])}\n"
    yield f"Written by `python -m warpfile.pages evidence {name}`."
    yield f"Machine {data['machine']}.\n"
    yield f"{data['runs']:,} golden runs; from nothing they take {data['seconds']:,} s of processor time."
    yield f"The paper: {paper}."
    yield "Claims, factors and verdicts: [evidence](../evidence.md). A figure is the mean of"
    yield f"{len(data['seeds'])} seeds, ± half of its 95 % interval over seeds, and in brackets its 95 % interval over"
    yield "kernels.\n"


def _claims(data: Data) -> Iterator[str]:
    yield "## Verdicts\n"
    columns = ("claim", "where", "metric", "paper", "ours", "verdict")
    yield table(columns, (_row(claim) for claim in data["claims"]))
    yield f"![From each figure of the paper, factor by factor, to ours]({data['scheme']}-evidence.svg)\n"
    yield "The chart goes from the paper's figure to ours. *Unexplained*: from there to our figure with all factors."
    yield "*Undone*: by how much the figure moves when this factor is taken back, the last one first.\n"


def _row(claim: Data) -> tuple[str, ...]:
    ours = figure(claim["steps"][0], claim["kind"])
    return f"`{claim['key']}`", claim["where"], claim["metric"], paper_range(claim), ours, verdict_text(claim)


def verdict_text(claim: Data) -> str:
    """The verdict in words."""
    joined = " " if claim["verdict"] == "reproduced under" else ": "
    return claim["verdict"] + (joined + claim["about"] if claim["about"] else "")


def paper_range(claim: Data) -> str:
    """What the paper says."""
    ends = dict.fromkeys(value(end, claim["kind"]) for end in claim["paper"])
    return " to ".join(ends)


def value(number: float, kind: str) -> str:
    """A share, or a growth with its sign."""
    return f"{number:.1%}" if kind == "share" else f"{number:+.1%}"


def figure(step: Data, kind: str) -> str:
    """A figure with both intervals."""
    sign = "" if kind == "share" else "+"
    inside = f" [{', '.join(f'{100 * end:{sign}.1f}' for end in step['kernels'])}]" if step["kernels"] else ""
    return f"{value(step['mean'], kind)} ± {100 * step['half']:.1f}{inside}"


def _suites(data: Data) -> Iterator[str]:
    """Means of claims that have kernels of every suite: how far they depend on the choice of kernels."""
    claims = [one for one in data["claims"] if all(_of_suite(one, suite) for suite in KINDS)]
    if not claims:
        return
    yield "## Suite by suite\n"
    yield "Means over the kernels of one suite each, with nothing changed. *Apart*: points between the highest and"
    yield "the lowest.\n"
    yield table(("claim", *KINDS, "all", "apart"), map(_by_suite, claims))


def _of_suite(claim: Data, suite: str) -> list[float]:
    found: Mapping[str, float] = claim["steps"][0]["by_kernel"]
    return [found[kernel] for kernel in KINDS[suite] if kernel in found]


def _by_suite(claim: Data) -> tuple[str, ...]:
    kind, ours = claim["kind"], claim["steps"][0]["mean"]
    shown = 0 if kind == "share" else 1  # growths are ratios minus one
    means = [MEANS[kind]([one + shown for one in _of_suite(claim, suite)]) - shown for suite in KINDS]
    apart = f"{100 * (max(means) - min(means)):.1f}"
    return f"`{claim['key']}`", *(value(one, kind) for one in (*means, ours)), apart


def _steps(data: Data) -> Iterator[str]:
    yield "## Step by step\n"
    yield "Every factor stays on in the rows below it. *Moved*: difference to the row above, and its range; where the"
    yield "range holds zero, the factor has not moved the figure.\n"
    for claim in data["claims"]:
        ours, other = claim["machines"]
        kernels = list(claim["steps"][0]["by_kernel"])
        where = f"`{kernels[0]}`" if len(kernels) == 1 else f"{len(kernels)} kernels"
        yield f"`{claim['key']}`: `{ours}` beside `{other}`, {where}; the paper has {paper_range(claim)}.\n"
        pairs = zip(claim["steps"], [None, *claim["steps"]], strict=False)
        rows = (_step(step, before, claim["kind"]) for step, before in pairs)
        yield table(("with", "figure", "moved, points", "the paper says so"), rows)


def _step(step: Data, before: Data | None, kind: str) -> tuple[str, ...]:
    return step["factor"] or "nothing changed", figure(step, kind), _moved(step, before), step["assumed"] or "-"


def _moved(step: Data, before: Data | None) -> str:
    if before is None:
        return "-"
    low, high = step["moved"]
    ends = f"{100 * (step['mean'] - before['mean']):+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
    return f"not moved: {ends}" if low <= 0 <= high else ends


def _kernels(data: Data) -> Iterator[str]:
    yield "## Kernel by kernel\n"
    yield "Means over the seeds, in the order of the steps.\n"
    for claim in data["claims"]:
        yield f"`{claim['key']}`\n"
        steps = claim["steps"]
        columns = ("kernel", *(step["factor"] or "nothing changed" for step in steps))
        rows = (
            (one, *(value(step["by_kernel"][one], claim["kind"]) for step in steps)) for one in steps[0]["by_kernel"]
        )
        yield table(columns, rows)


def _left(left: Sequence[str]) -> Iterator[str]:
    yield "## Not compared\n"
    yield from (f"* {one}" for one in left)


def summary(pages: Sequence[Data], rest: Sequence[str]) -> str:
    """The page of all verdicts. ``rest``: schemes whose claims are declared and not run."""
    claims = [(data, claim) for data in pages for claim in data["claims"]]
    rows = [(_link(data["scheme"]), *_row(claim)) for data, claim in claims]
    lines = (
        "# Verdicts on all papers\n",
        "Written by `python -m warpfile.pages evidence --text` from the data of the pages.",
        f"{_sum(pages, 'runs'):,} golden runs; from nothing they take {_sum(pages, 'seconds'):,} s of processor time.",
        "What the words mean: [evidence](evidence.md).\n",
        table(("scheme", *WORDS, "all"), _counts(pages)),
        table(("scheme", "claim", "where", "metric", "paper", "ours", "verdict"), rows)
        if rows
        else "No page is run.\n",
        *((f"Declared and not run: {', '.join(rest)}.",) if rest else ()),
    )
    return "\n".join(lines).rstrip("\n") + "\n"


def _sum(pages: Sequence[Data], key: str) -> int:
    return sum(data[key] for data in pages)


def _counts(pages: Sequence[Data]) -> Iterator[tuple[object, ...]]:
    """How many claims of each scheme, and of all, have each verdict."""
    counts = {data["scheme"]: Counter(claim["verdict"] for claim in data["claims"]) for data in pages}
    for name, found in (*counts.items(), ("all", sum(counts.values(), Counter()))):
        yield name, *(found[word] for word in WORDS), found.total()


def _link(name: str) -> str:
    return f"[{name}](schemes/{name}-evidence.md)"
