"""What is fuzzed: by class, whole inputs to begin with, and what a user's command does with one, in this process."""

from __future__ import annotations

import io
import json
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.compiler.traceg import EXIT, text
from tests.warpfile.conftest import CODE, LAUNCH, write_listing
from warpfile.compiler import parse
from warpfile.compiler.accelsim import import_kernel
from warpfile.compiler.cubin import architecture, machine_code
from warpfile.compiler.program import static_instructions
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.kernels import __file__ as kernels
from warpfile.output.difference import Difference
from warpfile.output.files import file_name
from warpfile.results.designs import designs
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stress import stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare
from warpfile.workloads.analysis import analyze_function
from warpfile.workloads.skeleton import skeleton

LONGEST = 1 << 14  #: bytes of one input
_SEED = 6000  #: bytes of a whole listing to begin with
_INSTRUCTIONS = 400  #: that are analysed; emulated: ten times as many
_CYCLES = 400
_TINY = "baseline"


@dataclass(frozen=True)
class Target:
    """A class of inputs. ``run`` takes one, and a folder that it may write to; it raises what a user is told."""

    seeds: Callable[[], Sequence[bytes]]
    run: Callable[[bytes, Path], None]
    words: tuple[str, ...] = ()


def _listing_seeds() -> list[bytes]:
    found = [Path(kernels).parent / name / "kernel.sass" for name in ("saxpy", "calls")]
    return [path.read_bytes()[:_SEED] for path in found if path.exists()] + [_small_listing()]


def _small_listing() -> bytes:
    lines = ["S2R R0, SR_TID.X", "ISETP.LT.AND P0, PT, R0, 0x3, PT", "BSSY B0, `(end)", "@P0 BRA `(in)"]
    lines += ["LDG.E.64.SYS R2, [R4]", "in:", "BSYNC B0", "end:", "CALL.REL.NOINC `(sub)", "EXIT", "sub:"]
    lines += ["RET.REL.NODEC R8 `(k)"]
    made, offset = ['\t.section\t.text.k,"ax",@progbits', "k:"], 0
    for line in lines:
        made.append(line if line.endswith(":") else f"        /*{offset:04x}*/                   {line} ;")
        offset += 0 if line.endswith(":") else 16
    made += ['\t.section\t.nv.info.k,"",@"SHT_CUDA_INFO"', "\t//----- nvinfo : EIATTR_KPARAM_INFO"]
    made += ["\t.word 0x000c1704, 0x0, 0x00080001, 0x00300000", '\t.section\t.nv.constant3,"a"', "table:", "\t.zero 8"]
    return "\n".join(made).encode()


def _run_listing(data: bytes, folder: Path) -> None:
    listing = parse(data.decode("utf-8", errors="replace"), "t")
    for function in listing.functions.values():
        if function.parameters is not None:
            tomllib.loads(skeleton(listing, function))
        if len(function.instructions) <= _INSTRUCTIONS:
            analyze_function(function)


def _cubin_seeds() -> list[bytes]:
    found = [Path(kernels).parent / name / "kernel.cubin" for name in ("saxpy", "calls")]
    return [path.read_bytes() for path in found]


def _run_cubin(data: bytes, folder: Path) -> None:
    """What ``warpfile import`` asks of a cubin itself, and a listing that takes its encodings from one."""
    architecture(data)
    text = (Path(kernels).parent / "saxpy" / "kernel.sass").read_text()
    for function in parse(text, "t", machine_code(data)).functions.values():
        static_instructions(function)


def _kernel(directory: Path) -> None:
    """Make a kernel directory whose files are whole."""
    directory.mkdir()
    write_listing(directory, CODE)
    (directory / "launch.toml").write_text(LAUNCH)
    np.save(directory / "y.npy", np.zeros(64, dtype=np.int32))
    np.save(directory / "y_expected.npy", np.arange(64, dtype=np.int32))


def _executed_seeds() -> list[bytes]:
    """Kernels that end well: the small one of the tests, and one with a branch, a barrier and shared memory."""
    branching = ("S2R R0, SR_TID.X", "ISETP.LT.AND P0, PT, R0, 0x3, PT", "BAR.SYNC 0x0", "MOV R2, RZ")
    branching = (*branching, "@P0 IADD3 R2, R2, -R0, RZ", "@!P0 BRA `(start)", "EXIT")
    return [_listed(branching), _listed(CODE)]


def _listed(code: Sequence[str]) -> bytes:
    with tempfile.TemporaryDirectory() as name:
        write_listing(Path(name), tuple(code))
        return (Path(name) / "kernel.sass").read_bytes()


def _with_file(name: str) -> Callable[[bytes, Path], None]:
    """Execute a kernel directory with one file replaced, and write its trace as ``warpfile trace`` does."""

    def run(data: bytes, folder: Path) -> None:
        directory = folder / f"with-{name}"
        if not directory.exists():
            _kernel(directory)
        (directory / name).write_bytes(data)
        launch = load_kernel(directory)
        if launch.grid[0] * launch.grid[1] * launch.grid[2] <= 4:
            made = execute(launch, 10 * _INSTRUCTIONS).trace
            path = folder / f"{file_name(made.kernel)}.npz"
            made.save(path)
            Trace.load(path)
            path.unlink()

    return run


def _array_seeds() -> list[bytes]:
    seeds = []
    for array in (np.asfortranarray(np.zeros((4, 64), np.int8)), np.zeros((8, 8), np.float32), np.zeros(64, np.int32)):
        stream = io.BytesIO()
        np.save(stream, array)
        seeds.append(stream.getvalue())
    return seeds


def _trace_seeds() -> list[bytes]:
    """Members of a trace file one after the other: name, length, contents."""
    seeds = []
    for seed in (1, 2):
        stream = io.BytesIO()
        trace = stress_trace(seed, ctas=1, warps_per_cta=1, length=6, registers=8)
        arrays = {name: getattr(trace, name) for name in vars(trace) if isinstance(getattr(trace, name), np.ndarray)}
        np.savez(stream, **arrays)
        seeds.append(_packed_members(stream, _meta(trace)))
    return seeds


def _meta(trace: Trace) -> bytes:
    from warpfile.spec import trace_file

    meta = {name: getattr(trace, name) for name in trace_file._SCALARS}
    meta |= {"format": trace_file.FORMAT, "version": trace_file.VERSION}
    meta["program"] = [trace_file._static_to_json(one) for one in trace.program]
    return json.dumps(meta).encode()


def _packed_members(stream: io.BytesIO, meta: bytes) -> bytes:
    with zipfile.ZipFile(stream) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    named = (("meta", meta), *members.items())
    return b"".join(name.encode() + b"\n" + b"%d\n" % len(one) + one for name, one in named)


def _run_trace(data: bytes, folder: Path) -> None:
    path = folder / "t.npz"
    with zipfile.ZipFile(path, "w") as archive:
        left, members = data, dict[str, bytes]()
        while left:
            name, _, left = left.partition(b"\n")
            size, _, left = left.partition(b"\n")
            count = int(size) if size.isdigit() and len(size) < 6 else len(left)
            content, left = left[:count], left[count:]
            if name == b"meta":
                stream = io.BytesIO()
                np.save(stream, np.frombuffer(content, dtype=np.uint8))
                name, content = b"meta.npy", stream.getvalue()
            members[name.decode("latin-1").replace("\0", "") or "x"] = content
        for member, content in members.items():
            archive.writestr(member, content)
    trace = Trace.load(path)
    (design,) = designs([_TINY], "tiny", ("lanes=2",))
    _golden(trace, design.scheme, design.config)
    for name in ("bow_wr", "rfc"):
        (design,) = designs([name], "tiny", ())
        design.scheme.annotated(design.config, trace)


def _golden(trace: Trace, scheme: object, config: object) -> None:
    layout = ProbeLayout(scheme.probes(config))  # type: ignore[attr-defined]
    environment = Environment(config, prepare(config, scheme.annotated(config, trace)), layout)  # type: ignore
    model = scheme.golden(config, layout)  # type: ignore[attr-defined]
    for _ in range(_CYCLES):
        if environment.done:
            return
        try:
            environment.observe(model.step(environment.stimulus()))
        except AssertionError as error:  # as warpfile.results.run does: values of the trace that cannot be
            raise Difference(str(error)) from None


def _accelsim_seeds() -> list[bytes]:
    stream = ("0000 ffffffff 1 R2 S2R 0 0", "0010 ffffffff 1 R4 LDG.E.64.SYS 1 R2 8 1 0x7f1000000000 8")
    more = ("0020 0000000f 0 SHFL.IDX 3 R6 R4 R255 0", "0030 ffffffff 0 STS 2 R2 R8 4 0 " + "0x10 " * 32, EXIT)
    first = text({0: stream, 1: (*stream, *more)}, {"block dim": "(64,1,1)"})
    return [first.encode(), text({0: (*stream, EXIT)}, {"accelsim tracer version": "4"}).encode()]


def _run_accelsim(data: bytes, folder: Path) -> None:
    path = folder / "kernel.traceg"
    path.write_bytes(data)
    trace = import_kernel(path).trace
    trace.save(folder / "t.npz")
    Trace.load(folder / "t.npz")


def _setting_seeds() -> list[bytes]:
    return [
        b"baseline\ntiny\nlanes=4\nwarps=4\nscheduler=lrr",
        b"bow_wr\npascal\nwindow=3\nwindow_entries=4\nbank_ports=1R1W",
        b"rfc+gto\nisca2011\nactive_warps=4\nsuspend=always\ncache_entries=3",
        b"malekeh\nturing\nunit_entries=8\nreuse_hints=static\nlanes=1",
        b"all\n\nbanks=2\nrows=64",
        b"bow+two_level\ntiny\nalu_interval=1024\npayload_bits=16\ncache_lines=0",
    ]


def _run_settings(data: bytes, folder: Path) -> None:
    names, preset, *changes = [*data.decode("utf-8", errors="replace").split("\n"), "", ""]
    for design in designs(names.split(" "), preset or None, [one for one in changes if one])[:2]:
        _golden(stress_trace(1, ctas=1, warps_per_cta=1, length=8, registers=8), design.scheme, design.config)


TARGETS = {
    "listing": Target(_listing_seeds, _run_listing, ("BRA `(", "@!P0 ", "CALL.REL.NOINC `(", ".128", "c[0x0][", " ;")),
    "cubin": Target(_cubin_seeds, _run_cubin, ("\x7fELF", ".text.", "\0")),
    "executed": Target(_executed_seeds, _with_file("kernel.sass"), ("R255", "[R2+-0x", ".64", "SHFL", "@P0 ")),
    "launch": Target(lambda: [LAUNCH.encode()], _with_file("launch.toml"), ("[[args]]", "grid", "= [", '"buffer"')),
    "array": Target(_array_seeds, _with_file("y.npy"), ("'descr'", "'<i4'", "(64,)", "True", "\\", "(", "-")),
    "trace": Target(_trace_seeds, _run_trace, ('"program"', "[[", "-1", "null", "1e999")),
    "accelsim": Target(_accelsim_seeds, _run_accelsim, ("#BEGIN_TB", "insts = ", "ffffffff", "R255", "-kernel name")),
    "settings": Target(_setting_seeds, _run_settings, ("lanes=", "+two_level", "all", "=0x", "=-1", "1024")),
}
