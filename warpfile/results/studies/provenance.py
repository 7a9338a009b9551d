"""What a study was asked for, and by which versions it was answered: for those who read its tables later."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from warpfile.results import result_cache
from warpfile.results.studies.plan import Plan
from warpfile.results.studies.tasks import KINDS, PATH
from warpfile.synth.timing import timer


def provenance(plan: Plan) -> dict[str, Any]:
    """Name, request and versions of a study. ``sources``: a hash of what decides each kind, but foreign parts."""
    sources = {kind: KINDS[kind].sources for kind in plan.kinds}
    tools = dict.fromkeys(("warpfile", *(tool for one in sources.values() for tool in one.tools)))
    versions = {tool: version(tool) for tool in tools} | ({"OpenSTA": timer()} if PATH in plan.kinds else {})
    return {
        "study": plan.name,
        "asked": dict(plan.asked),
        "versions": versions,
        "sources": {kind: result_cache.code_hash(one, ())[:12] for kind, one in sources.items()},
    }
