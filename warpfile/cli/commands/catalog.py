"""``warpfile schemes``, ``warpfile kernels`` and ``warpfile presets``: lists of what can be named."""

from __future__ import annotations

from pathlib import Path

import click

from warpfile.cli.options import json_file
from warpfile.output.display import show_table
from warpfile.output.files import write_json
from warpfile.schemes import SCHEMES, variants
from warpfile.spec.presets import PRESETS, Preset
from warpfile.workloads.inputs import bundled_kernels, summary


@click.command(short_help="List the schemes and their variants.")
@json_file
def schemes(json_path: Path | None) -> None:
    """List the schemes, then their variants: the same parts in other settings, which `all` leaves out.

    \b
    Example: warpfile schemes
    """
    every = {name: SCHEMES[name] for name in (*SCHEMES, *variants())}
    facts = {
        name: {"summary": scheme.summary, "preset": scheme.preset, "variant_of": scheme.variant_of}
        for name, scheme in every.items()
    }
    if json_path:
        write_json(json_path, {"schemes": facts})
    columns = ("scheme", "variant of", "preset", "summary")
    show_table(columns, [(name, scheme.variant_of, scheme.preset, scheme.summary) for name, scheme in every.items()])


@click.command(short_help="List the bundled kernels.")
@json_file
def kernels(json_path: Path | None) -> None:
    """List the bundled kernels.

    \b
    Example: warpfile kernels --json kernels.json
    """
    facts = {name: summary(directory) for name, directory in bundled_kernels().items()}
    if json_path:
        write_json(json_path, {"kernels": facts})
    columns = ("kernel", "grid", "block", "large grid", "large block", "arguments")
    keys = columns[1:]
    show_table(columns, [(name, *(fact.get(key.replace(" ", "_")) for key in keys)) for name, fact in facts.items()])


@click.command(short_help="List the presets.")
@json_file
def presets(json_path: Path | None) -> None:
    """List the presets; --json also gives every value and its source.

    \b
    Example: warpfile presets
    """
    if json_path:
        write_json(json_path, {"presets": {name: _preset_facts(preset) for name, preset in PRESETS.items()}})
    columns = ("preset", "domains", "warps", "banks", "rows", "ports", "collectors", "slots", "scheduler", "machine")
    show_table(columns, [_preset_row(name, preset) for name, preset in PRESETS.items()])


def _preset_row(name: str, preset: Preset) -> tuple[object, ...]:
    cfg = preset.config
    shape = (cfg.domains, cfg.warps, cfg.banks, cfg.rows, cfg.bank_ports, cfg.collectors, cfg.source_slots)
    return (name, *shape, cfg.scheduler, preset.title)


def _preset_facts(preset: Preset) -> dict[str, object]:
    return {
        "title": preset.title,
        "domains_per_sm": preset.config.domains,
        "parameters": preset.config.to_json(),
        "sources": dict(preset.sources),
    }
