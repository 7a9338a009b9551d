"""The SM of a paper as one domain, of which its worked examples are."""

from __future__ import annotations

from warpfile.spec.presets import PRESETS


def whole(preset: str) -> dict[str, int]:
    """Fields of which the SM has as much as the domains of a preset together."""
    cfg = PRESETS[preset].config
    return {"domains": 1} | {name: getattr(cfg, name) * cfg.domains for name in ("warps", "banks", "collectors")}
