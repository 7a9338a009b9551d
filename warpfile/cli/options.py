"""Arguments and options that subcommands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from warpfile.compiler.architectures import EXECUTED, is_executed
from warpfile.output.display import Report
from warpfile.results.designs import ALL, Choice, chosen
from warpfile.schemes import PARTS, SCHEMES, SLOTS
from warpfile.spec.presets import PRESETS

if TYPE_CHECKING:
    from warpfile.spec.trace import Trace

Command = TypeVar("Command", bound=Callable[..., Any])
_WINDOW = re.compile(r"(\d+):(\d+)")
#: Modules that --wires needs, by what they are called.
_PLACING = {"coloquinte": "coloquinte", "Pillow": "PIL"}
_SLOTS = {"scheduler": "scheduler", "collectors": "kind of collectors", "rf": "register file"}


@dataclass(frozen=True)
class MachineOptions:
    """Options that :func:`configured` adds: the preset, changed fields, and parts instead of the scheme's own."""

    preset: str | None
    changes: tuple[str, ...]
    parts: tuple[str, ...]

    def chosen(self, schemes: Sequence[str]) -> Choice:
        """These schemes, each with its configuration. Raises as :func:`warpfile.results.designs.chosen`."""
        return chosen(schemes, self.preset, self.changes, self.parts)


@dataclass(frozen=True)
class LaunchOptions:
    """Options that :func:`kernel_options` adds: which launch of a kernel, and after how many instructions it stops."""

    setting: str
    instruction_limit: int | None

    def trace(self, kernel: str, report: Report) -> Trace:
        """The trace of a kernel. Raises as :func:`warpfile.workloads.inputs.obtain_trace`."""
        from warpfile.workloads.inputs import obtain_trace

        return obtain_trace(kernel, self.setting, self.instruction_limit, report)


def complete_kernel(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What a shell offers for KERNEL: bundled kernels, and files and folders."""
    from warpfile.workloads.inputs import bundled_kernels

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
    """Add ``--preset``, ``--set``, and ``--domain`` and ``--clock-gating``, which are changes, and an option per slot.

    The command gets all of them as ``machine_options``.
    """

    @wraps(command)
    def gathered(
        preset: str | None, changes: tuple[str, ...], domain: int | None, clock_gating: bool, **values: Any
    ) -> Any:
        named = [(slot, values.pop(slot)) for slot in SLOTS]
        parts = tuple(_part(slot, name) for slot, name in named if name)
        changes = changes if domain is None else (*changes, f"domain={domain}")
        changes = (*changes, "clock_gating=arrays") if clock_gating else changes
        return command(machine_options=MachineOptions(preset, changes, parts), **values)

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
        help="Run the warps w with w mod domains = D of every CTA, if the preset has several domains. Default: 0.",
    )
    gates = click.option(
        "--clock-gating",
        is_flag=True,
        help="Use clock gates instead of enables for operand arrays and tables: --set clock_gating=arrays.",
    )
    for slot, what in reversed(_SLOTS.items()):
        gathered = click.option(f"--{slot}", metavar="NAME", help=f"Use this {what} instead of the scheme's.")(gathered)
    return preset(domain(change(gates(gathered))))  # type: ignore[return-value]


def _part(slot: str, name: str) -> str:
    known = [part.name for part in PARTS.values() if part.slot == slot]
    if name not in known:
        raise click.UsageError(f"--{slot} must be one of {', '.join(known)}, not {name!r}")
    return name


def json_file(command: Command) -> Command:
    """Add ``--json``."""
    return click.option(
        "--json", "json_path", metavar="FILE", type=click.Path(path_type=Path), help="Write the results as JSON."
    )(command)


def delay_files(command: Command) -> Command:
    """Add ``--delays``."""
    return click.option(
        "--delays",
        metavar="FILE",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Cell library for critical paths with OpenSTA; areas do not change. May be repeated. Of several files:"
        " FOLDER/FIRST,SECOND.",
    )(command)


def two_cycles(option: str, text: str) -> tuple[int, int]:
    """First and last cycle of a window FIRST:LAST. Raises ``UsageError`` for anything else."""
    found = _WINDOW.fullmatch(text)
    if not found or int(found[1]) > int(found[2]):
        raise click.UsageError(f"{option} must be FIRST:LAST, two cycles, the first not behind the last, not {text!r}")
    return int(found[1]), int(found[2])


def check_placer() -> None:
    """Raises ``ClickException`` where what places a netlist is not installed."""
    if missing := [name for name, module in _PLACING.items() if find_spec(module) is None]:
        raise click.ClickException(f"--wires needs {' and '.join(missing)}: pip install 'warpfile[wires]'")


def kernel_argument(command: Command) -> Command:
    """Add KERNEL with ``--setting`` and ``--instruction-limit``."""
    argument = click.argument("kernel", metavar="KERNEL", shell_complete=complete_kernel)
    return argument(kernel_options(command))


class Architecture(click.ParamType):
    """A GPU as ``sm_90``; its value is 90."""

    name = "architecture"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        match = re.fullmatch(r"sm_([0-9]{2,3})", str(value))
        if match is None or not is_executed(int(match[1])):
            self.fail(f"must be sm_{EXECUTED[0]} to sm_{EXECUTED[-1]}, not {value!r}", param, ctx)
        return int(match[1])


def architecture(purpose: str) -> Callable[[Command], Command]:
    """Add ``--arch``."""
    return click.option("--arch", "architecture", metavar="sm_NN", type=Architecture(), help=purpose)


def kernel_options(command: Command) -> Command:
    """Add ``--setting`` and ``--instruction-limit``; the command gets both as ``launch_options``."""

    @wraps(command)
    def gathered(setting: str, instruction_limit: int | None, **values: Any) -> Any:
        return command(launch_options=LaunchOptions(setting, instruction_limit), **values)

    setting = click.option(
        "--setting",
        default="launch",
        show_default=True,
        help="launch or large: that launch file; steady: the larger one, repeated to at least eight waves.",
    )
    limit = click.option(
        "--instruction-limit",
        type=click.IntRange(min=1),
        metavar="N",
        help="Stop with an error after this number of warp instructions.",
    )
    return setting(limit(gathered))  # type: ignore[return-value]


def scheme_arguments(command: Command) -> Command:
    """Add SCHEME..., one or several names or ``all``."""
    return click.argument("schemes", metavar="SCHEME...", nargs=-1, required=True, shell_complete=_complete_scheme)(
        command
    )


def scheme_argument(command: Command) -> Command:
    """Add SCHEME, the name of one."""
    return click.argument("scheme", metavar="SCHEME", shell_complete=_complete_scheme)(command)
