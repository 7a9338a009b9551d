"""A launch file to be filled in: what a listing tells of a kernel, with a line for each thing that it does not tell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import prod

from warpfile.compiler import Function, Listing
from warpfile.compiler.model import Parameter
from warpfile.output.display import printable
from warpfile.workloads.signature import launch_type, parameter_types, signature
from warpfile.workloads.triton import Metadata

_BY_SIZE = {1: "i8", 2: "i16", 4: "i32", 8: "buffer"}
_ALIGNMENTS = (1, 2, 4, 8, 16)


def skeleton(listing: Listing, function: Function, triton: Metadata | None = None) -> str:
    """Text of ``launch.toml``. Raises ``ValueError`` for a listing that shows no parameters.

    Launch, values and arrays are missing; until they are given, reading it is refused in a line that names all of them.
    ``triton`` is Triton's description of its kernel.
    """
    if function.parameters is None:
        raise ValueError(f"{listing.name}: listing must show the parameters of {function.name}")
    types = parameter_types(function.name)
    known = types is not None and len(types) == len(function.parameters)
    lines = [
        "# Fill in this launch file: remove the # of a line and enter its value. All keys: docs/kernels.md",
        f"kernel = {_text(function.name)}  # {printable(signature(function.name))}",
        "# grid = [1, 1, 1]  # CTAs in x, y, z",
        _block(function, triton),
        f"shared_bytes = {triton.shared if triton else 0}  # dynamic shared memory" + _said(triton),
        f"static_shared_bytes = {function.static_shared or 0}",
    ]
    if function.parameters and not known:
        lines.append("# Types are guessed by their sizes: the name of a C function does not have them.")
    end, hidden = 0, _hidden(function, triton)
    for parameter, cpp in zip(function.parameters, types if types and known else _unknown(function), strict=True):
        if scratch := hidden.get(parameter.ordinal):
            lines += ["", *_scratch(parameter, *scratch)]
        else:
            lines += ["", *_argument(parameter, cpp, end)]
        end = parameter.offset + parameter.size
    return "\n".join([*lines, *_constants(listing)]) + "\n"


def _block(function: Function, triton: Metadata | None) -> str:
    """The block that code or Triton requires, or one to be filled in, with the most threads that the code allows."""
    if function.block:
        return f"block = {list(function.block)}  # threads in x, y, z, as the code requires"
    if triton:
        return f"block = {[triton.threads, 1, 1]}  # threads in x, y, z" + _said(triton)
    most = f", at most {prod(function.block_limit)} in all" if function.block_limit else ""
    return f"# block = [32, 1, 1]  # threads in x, y, z{most}"


def _said(triton: Metadata | None) -> str:
    return f", as {triton.file} of Triton {triton.version} says" if triton else ""


def _hidden(function: Function, triton: Metadata | None) -> dict[int, tuple[str, int]]:
    """By number of the last parameters what Triton's launcher gives them: use and bytes per CTA."""
    if not triton:
        return {}
    last = (function.parameters or ())[-len(triton.hidden) :] if triton.hidden else ()
    if len(last) < len(triton.hidden) or any(parameter.size != 8 for parameter in last):
        pointers = f"{len(triton.hidden)} pointers to scratch memory, which {triton.file} names"
        raise ValueError(f"parameters of {function.name} must end with {pointers}")
    return {parameter.ordinal: scratch for parameter, scratch in zip(last, triton.hidden, strict=True)}


def _scratch(parameter: Parameter, use: str, size: int) -> Iterator[str]:
    """The lines of a pointer that is not in the source: null where the kernel has no such memory."""
    yield f"[[args]]  # at {parameter.offset:#x}, size {parameter.size}: Triton's own, {use}"
    yield f'name = "p{parameter.ordinal}"'
    if size:
        yield 'type = "buffer"'
        yield f'init = "p{parameter.ordinal}.npy"  # zeros, {size} bytes for each CTA of the grid'
    else:
        yield 'type = "u64"'
        yield "value = 0  # a null pointer: this kernel has no such memory"


def _unknown(function: Function) -> tuple[str, ...]:
    return ("",) * len(function.parameters or ())


def _argument(parameter: Parameter, cpp: str, end: int) -> Iterator[str]:
    """The lines of one parameter; the one before it ends at ``end``."""
    name = f"p{parameter.ordinal}"
    kind = launch_type(cpp) if cpp else _BY_SIZE.get(parameter.size)
    yield f"[[args]]  # at {parameter.offset:#x}, size {parameter.size}"
    yield f'name = "{name}"'
    if kind is None:
        yield from _structure(parameter, cpp, end)
        return
    yield f'type = "{kind}"' + (f"  # {printable(cpp)}" if cpp else "")
    if kind == "buffer":
        yield f'init = "{name}.npy"  # contents before the kernel; a null pointer: docs/kernels.md'
        yield f'# expect = "{name}_expected.npy"  # after the kernel; rtol and atol if it need not be exact'
    else:
        yield "# value = 0"


def _structure(parameter: Parameter, cpp: str, end: int) -> Iterator[str]:
    """A parameter of any size as words: a user who knows the structure writes its fields."""
    width = 4 if parameter.size % 4 == 0 and parameter.offset % 4 == 0 else 1
    yield 'type = "struct"' + (f"  # {printable(cpp)}" if cpp else "")
    if (align := _alignment(parameter, end)) > width:
        yield f"align = {align}"
    yield "[[args.fields]]"
    yield 'name = "words"' if width == 4 else 'name = "bytes"'
    yield f'type = "u{8 * width}"'
    yield f"# value = {[0] * (parameter.size // width)}"


def _alignment(parameter: Parameter, end: int) -> int:
    """The least alignment that puts a parameter to its place, behind the one before it."""
    return next((one for one in _ALIGNMENTS if end + -end % one == parameter.offset), _ALIGNMENTS[-1])


def _constants(listing: Listing) -> Iterator[str]:
    for name, symbol in listing.constant_symbols.items():
        yield from ("", "# [[constants]]", f"# name = {_text(name)}", f'# init = "constant.npy"  # {symbol.size} bytes')


def _text(text: str) -> str:
    """A string of TOML."""
    return json.dumps(text).replace("\x7f", "\\u007f")
