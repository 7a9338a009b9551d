"""Arguments and options that subcommands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from warpfile.schemes import PARTS, SCHEMES, SLOTS, Scheme, composed, find, variants
from warpfile.spec.config import Config, parse_field
from warpfile.spec.presets import PRESETS

Command = TypeVar("Command", bound=Callable[..., Any])
ALL = "all"
BASELINE = "baseline"
_SLOTS = {"scheduler": "scheduler", "collectors": "kind of collectors", "rf": "register file"}


@dataclass(frozen=True)
class Design:
    """A scheme in the configuration that the command line asks for."""

    scheme: Scheme
    preset: str
    config: Config
    changes: Mapping[str, object] = field(default_factory=dict)

    @property
    def baseline(self) -> Design:
        """The baseline that it is compared with: the same preset with the same changes, as far as they concern it.

        A scheduler that the command line asks for is one of them.
        """
        scheduler, names = self.scheme.scheduler, {spec.name for spec in fields(Config)}
        scheme = composed(SCHEMES[BASELINE], [scheduler] if scheduler else [])
        changes = {name: value for name, value in self.changes.items() if name in names}
        return Design(scheme, self.preset, scheme.configuration(self.preset, **changes), changes)


def complete_kernel(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What a shell offers for KERNEL: bundled kernels, and files and folders."""
    from warpfile.inputs import bundled_kernels

    names = [CompletionItem(name) for name in bundled_kernels() if name.startswith(incomplete)]
    return [*names, CompletionItem(incomplete, type="file")]


def _complete_scheme(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Schemes, and kernels where the command has one: a shell cannot tell where SCHEME... ends."""
    names = [CompletionItem(name) for name in (*SCHEMES, ALL) if name.startswith(incomplete)]
    has_kernel = any(one.name == "kernel" for one in context.command.params)
    return names + complete_kernel(context, parameter, incomplete) if has_kernel else names


def _complete_preset(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in PRESETS if name.startswith(incomplete)]


def configured(command: Command) -> Command:
    """Add ``--preset``, ``--set`` and ``--domain``, which is one of the changes, and an option per slot.

    The command gets the parts of the slots as ``parts``.
    """

    @wraps(command)
    def gathered(changes: tuple[str, ...], domain: int | None, **values: Any) -> Any:
        chosen = [(slot, values.pop(slot)) for slot in SLOTS]
        parts = tuple(_part(slot, name) for slot, name in chosen if name)
        return command(parts=parts, changes=changes if domain is None else (*changes, f"domain={domain}"), **values)

    change = click.option(
        "--set",
        "changes",
        metavar="FIELD=VALUE",
        multiple=True,
        help="Change a configuration field, for example --set lanes=4. May be repeated.",
    )
    preset = click.option(
        "--preset",
        help=f"Named configuration: {', '.join(PRESETS)}. Default: the scheme's own.",
        shell_complete=_complete_preset,
    )
    domain = click.option(
        "--domain",
        type=click.IntRange(min=0),
        metavar="D",
        help="Run the warps w mod domains = D of every CTA, where the preset has several domains. Default: 0.",
    )
    for slot, what in reversed(_SLOTS.items()):
        gathered = click.option(f"--{slot}", metavar="NAME", help=f"Take this {what} in place of the scheme's.")(
            gathered
        )
    return preset(domain(change(gathered)))  # type: ignore[return-value]


def _part(slot: str, name: str) -> str:
    known = [part.name for part in PARTS.values() if part.slot == slot]
    if name not in known:
        raise click.UsageError(f"--{slot} must be one of {', '.join(known)}, not {name!r}")
    return name


def json_file(command: Command) -> Command:
    """Add ``--json``."""
    return click.option(
        "--json", "json_path", metavar="FILE", type=click.Path(path_type=Path), help="Write the facts as JSON."
    )(command)


def delay_files(command: Command) -> Command:
    """Add ``--delays``."""
    return click.option(
        "--delays",
        metavar="FILE",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Cell library for critical paths, by OpenSTA, beside areas that stay as they are. May be repeated.",
    )(command)


def kernel_argument(command: Command) -> Command:
    """Add KERNEL with ``--setting`` and ``--instruction-limit``."""
    argument = click.argument("kernel", metavar="KERNEL", shell_complete=complete_kernel)
    return argument(kernel_options(command))


def kernel_options(command: Command) -> Command:
    """Add ``--setting`` and ``--instruction-limit``."""
    setting = click.option("--setting", default="launch", show_default=True, help="Launch file: launch or large.")
    limit = click.option(
        "--instruction-limit",
        type=click.IntRange(min=1),
        metavar="N",
        help="Give up after so many warp instructions.",
    )
    return setting(limit(command))


def scheme_arguments(command: Command) -> Command:
    """Add SCHEME..., one or several names or ``all``."""
    return click.argument("schemes", metavar="SCHEME...", nargs=-1, required=True, shell_complete=_complete_scheme)(
        command
    )


def designs(
    names: Sequence[str], preset: str | None, changes: Sequence[str], parts: Sequence[str] = ()
) -> list[Design]:
    """The schemes with these parts, each with its configuration. Raises :class:`click.UsageError` and ``ValueError``.

    A field that only some of several schemes have is changed in those. Of several, the error names the one.
    """
    schemes = chosen_schemes(names, parts)
    known = {spec.name for scheme in schemes for spec in fields(scheme.parameters)}
    found = []
    for scheme in schemes:
        try:
            found.append(design(scheme, preset, [one for one in changes if _concerns(scheme, one, known)]))
        except ValueError as error:
            if len(schemes) == 1 or str(error).startswith(f"{scheme.name}:"):
                raise
            raise ValueError(f"{scheme.name}, preset {preset or scheme.preset}: {error}") from None
    return found


def _concerns(scheme: Scheme, change: str, known: set[str]) -> bool:
    """Whether a change is this scheme's to apply or to refuse."""
    name = change.partition("=")[0].strip()
    return name not in known or name in {spec.name for spec in fields(scheme.parameters)}


def chosen_schemes(names: Sequence[str], parts: Sequence[str] = ()) -> list[Scheme]:
    """Schemes by name in the order given, each once; ``all`` stands for the whole table, which is without variants.

    All get the same parts.
    """
    wanted: dict[str, Scheme] = {}
    for name in names:
        known = name == ALL or name.partition("+")[0] in SCHEMES
        if not known:
            raise click.UsageError(f"SCHEME must be one of {', '.join((*SCHEMES, *variants()))} or {ALL}, not {name!r}")
        for one in SCHEMES if name == ALL else (name,):
            scheme = find("+".join((one, *parts)))
            wanted[scheme.name] = scheme
    return list(wanted.values())


def design(scheme: Scheme, preset: str | None, changes: Sequence[str]) -> Design:
    """One scheme's configuration: its own preset or the named one, with single fields changed."""
    name = preset or scheme.preset
    if name not in PRESETS:
        raise click.UsageError(f"--preset must be one of {', '.join(PRESETS)}, not {name!r}")
    values: dict[str, object] = {}
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals:
            raise click.UsageError(f"--set must be FIELD=VALUE, not {change!r}")
        values[key.strip()] = parse_field(key.strip(), text.strip(), scheme.parameters)
    return Design(scheme, name, scheme.configuration(name, **values), values)
