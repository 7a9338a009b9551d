"""Measure a GPU, and compare the emulator with what was measured.

python -m warpfile.hardware measure FOLDER     # needs a CUDA GPU, nvcc and nvdisasm
python -m warpfile.hardware listing            # rewrites the listings of the probes; needs nvcc and nvdisasm
python -m warpfile.hardware compare FILE.npz   # the emulator against recorded outcomes of probes, with sm_75 code,
                                               # or with sm_90 behind it with that
python -m warpfile.hardware kernels FILE.npz   # the emulator against recorded outcomes of the bundled kernels
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from warpfile.compiler.architectures import TARGET
from warpfile.hardware import compare, kernels, measure, probes
from warpfile.hardware.driver import Device, DeviceError
from warpfile.kernels.reference import names
from warpfile.kernels.toolkit import ToolError, find_tool, run_tool
from warpfile.output.display import progress

MANY = 8192  #: operands of a probe in the longer run
PARTS = ("probes", "exhaustive", "kernels", "latencies")


def measured(folder: Path, parts: list[str]) -> None:
    """Run all (or some) parts on the GPU and write what they gave."""
    device = Device()
    folder.mkdir(parents=True, exist_ok=True)
    facts: dict[str, object] = {"device": device.name, "cuda": device.cuda, "driver": _driver(), "nvcc": _nvcc()}
    if "probes" in parts:
        code = measure.compiled(probes.SOURCE, device.capability)
        facts["opcodes"] = measure.opcodes(code)
        for stem, count in (("probes", probes.COUNT), ("probes_many", MANY)):
            compare.write(folder / f"{stem}.npz", measure.run_probes(device, code, count))
        print("probes done", flush=True)
    if "kernels" in parts:
        np.savez_compressed(folder / "kernels.npz", **measure.run_kernels(device, names()))
        print("kernels done", flush=True)
    if "latencies" in parts:
        facts["latencies"] = measure.run_latencies(device)
        print(json.dumps(facts["latencies"], indent=1), flush=True)
    if "exhaustive" in parts:
        code = measure.compiled(measure.EXHAUSTIVE, device.capability)
        facts["exhaustive_opcodes"] = measure.opcodes(code)
        facts["exhaustive"] = measure.run_exhaustive(device, code)
        print("exhaustive done", flush=True)
    (folder / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()


def _nvcc() -> str:
    text = run_tool([str(find_tool("nvcc")), "--version"], Path.cwd())
    return next((line.split(", V")[1] for line in text.splitlines() if ", V" in line), "")


def relisted(architecture: int, place: Path) -> None:
    """Compile the probes for a GPU and keep the listing."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "probes.cubin"
        nvcc, nvdisasm = str(find_tool("nvcc")), str(find_tool("nvdisasm"))
        options = [f"-arch=sm_{architecture}", "-O3", "-diag-suppress=177", "-cubin"]
        run_tool([nvcc, *options, "-o", str(target), probes.SOURCE.name], probes.SOURCE.parent)
        text = run_tool([nvdisasm, "-c", "-hex", target.name], target.parent)
    place.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def reported(path: Path, architecture: int) -> int:
    """A line for each probe that differs; 1 if one is too far off."""
    found, wrong = compare.recorded(path), 0
    for probe in probes.probes():
        if probe.name not in found or probe.name in compare.CUT:
            continue
        difference = compare.compared(probe, found[probe.name], architecture)
        wrong += difference.wrong
        if difference.threads:
            count = found[probe.name].shape[1]
            print(
                f"{probe.name}: {difference.threads} of {count} differ, {difference.wrong} too far {difference.first}"
            )
    print(f"{len(found)} probes, {wrong} results too far off")
    return int(wrong > 0)


def main(words: list[str]) -> int:
    """The exit status of the command."""
    try:
        if words[:1] == ["listing"] and len(words) == 1:
            for architecture, place in probes.LISTINGS.items():
                relisted(architecture, place)
        elif words[:1] == ["measure"] and len(words) >= 2 and set(words[2:]) <= set(PARTS):
            with progress("hardware measure"):
                measured(Path(words[1]), words[2:] or list(PARTS))
        elif words[:1] == ["compare"] and len(words) >= 2 and words[2:] in ([], ["sm_90"]):
            return reported(Path(words[1]), 90 if words[2:] else TARGET)
        elif words[:1] == ["kernels"] and len(words) == 2:
            with np.load(words[1]) as outcomes:
                print(json.dumps(kernels.table(outcomes), indent=1))
        else:
            print((__doc__ or "").strip(), file=sys.stderr)
            return 2
    except (ToolError, DeviceError) as error:
        print(f"warpfile.hardware: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
