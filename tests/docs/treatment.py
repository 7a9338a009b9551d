"""How each command on the pages is tested. ``tests/docs/test_commands.py`` refuses one that is not here."""

from __future__ import annotations

#: Run by `make test`: they take less than three seconds of processor time.
QUICK = {
    "warpfile generate baseline --preset turing -o rtl",
    "warpfile doctor",
    "warpfile run baseline matmul_tiled",
    "warpfile run bow_wr+two_level spmv",
    "warpfile run baseline stencil --domain 3",
    "warpfile profile baseline bitonic_sort --top 5",
    "warpfile profile bow_wr spmv --sort bank_conflicts --top 3 --html spmv.html",
    "warpfile profile modern warp_reduce --listing --csv warp_reduce.csv",
    "warpfile profile malekeh bitonic_sort --trace-events sort.json --konata sort.kanata",
    "warpfile analyze collatz --dot collatz.dot",
    "warpfile analyze mine.sass --scheme modern",
    "warpfile import mine.cu -o mine",
    "warpfile import saxpy.cu -o mine",
    "warpfile trace mine",
    "warpfile trace mine --save-outputs computed",
    "warpfile run all mine",
    "warpfile energy bow bow_wr matmul_tiled",
    "warpfile energy rfc spmv --set active_warps=4",
    "warpfile energy malekeh stencil --prices bow --json energy.json",
    "warpfile energy ltrf_plus stencil --prices cacti --gigahertz 1.5 --json energy.json",
    "python -m warpfile.pages",
    "python -m warpfile.pages cacti",
    "python -m warpfile.pages presets --check",
    "warpfile search examples/study/search.toml --dry-run",
    "warpfile study --kernel 'traces/*.npz' --scheme all --preset turing --dry-run",
    "python -m tests.times build/junit.xml",
}

#: Run by `make check`: they take longer.
COSTLY = {
    "warpfile generate baseline -o rtl",
    "warpfile generate baseline --language sv -o rtl",
    "warpfile generate bow --host vortex -o rtl",
    "warpfile run all spmv --preset turing",
    "warpfile energy all spmv --preset turing --prices cacti",
    "warpfile draw bow --preset tiny -o bow.dot",
    "warpfile cosim bow_wr collatz --set window=4",
    "warpfile cosim bow_wr collatz --preset tiny --window 200:260 --wave-file bow.vcd",
    "warpfile cosim bow_wr collatz --preset tiny --waves",
    "warpfile cosim bow_wr collatz --preset tiny --window 200:260",
    "warpfile cosim bow_wr collatz --preset tiny --window 200: --wave-file found.vcd",
    "warpfile cosim rfc collatz --preset tiny --power-up 1 --reset-after 500",
    "warpfile area baseline --liberty my_cells.lib",
    "warpfile energy bow warp_reduce --preset tiny --prices cacti --switching 100:199",
    "warpfile energy rfc spmv --prices cacti --set lanes=4 --switching 1000:1049 --liberty my_cells.lib"
    " --json energy.json",
    "warpfile study --kernel spmv --scheme bow --scheme bow_wr --set window=2,3,4 --seeds -4,-2,0,2,4",
    "warpfile study examples/study/window.toml",
    "warpfile report schemes",
    "warpfile report build/study/window -o window.html --json window.json",
}

#: A program that a command needs beside what pip installs; where it is missing, that is why the test is skipped.
NEEDS = {command: "iverilog" for command in COSTLY if "--switching" in command}

_FOREIGN = "tests/schemes/test_foreign.py"
_PLAN = "tests/warpfile/results/studies/test_plan.py"
#: Run by another test, which has what they need.
ELSEWHERE = {
    "pip install -e .": _FOREIGN,
    "warpfile schemes": _FOREIGN,
    "warpfile cosim swizzled collatz --preset tiny": _FOREIGN,
    "warpfile cosim bow_wr+swizzled+two_level collatz --preset tiny": _FOREIGN,
    "warpfile energy swizzled collatz": _FOREIGN,
    "fusesoc --cores-root rtl run --target=lint warpfile:generated:warpfile": "tests/warpfile/verilog/test_flows.py",
    "python examples/integration/run.py": "tests/examples/test_integration.py",
    "python examples/integration/run.py --simulator icarus": "tests/examples/test_integration.py",
    "python -m warpfile.integrations.vortex.check rtl --seeds 5": "tests/integrations/vortex/test_adapter.py",
    "warpfile trace saxpy --arch sm_90": "tests/warpfile/cli/test_commands.py",
    "warpfile run modern saxpy-sm_90.npz --preset hopper": "tests/warpfile/cli/test_commands.py",
    "warpfile import saxpy.cu --arch sm_90 -o mine-sm_90": "tests/warpfile/workloads/test_import.py",
    "warpfile study --kernel all --setting large --scheme all --preset turing": _PLAN,
    "warpfile import ~/.triton/cache/HASH/softmax.cubin -o mine": "tests/warpfile/workloads/test_import.py",
    "warpfile import kernel.ptx -o mine": "tests/warpfile/workloads/test_import.py",
    "warpfile import kernel.cubin -o mine": "tests/warpfile/workloads/test_import.py",
    "warpfile import library.so --arch sm_90 --kernel reduce -o mine": "tests/warpfile/workloads/test_import.py",
    "python -m warpfile.hardware compare FILE.npz": "tests/warpfile/hardware/test_command.py",
    "python -m warpfile.hardware kernels FILE.npz": "tests/warpfile/hardware/test_command.py",
    "warpfile report window --svg figures": "tests/warpfile/results/reports/test_chromium.py",
    "warpfile report schemes --svg figures": "tests/warpfile/results/reports/test_chromium.py",
    "warpfile report schemes --latex schemes.tex --pivot schemes.csv": "tests/warpfile/results/reports/test_exports.py",
}

_MINUTES = "it takes minutes"
_CLUSTER = "it needs a cluster"
_TOOLS = "it rewrites the repository, with tools of NVIDIA"
_PACKAGES = "it installs packages"
#: Only parsed: options, names and files are checked. Why they are not run.
PARSED = {
    "make demo": _MINUTES,
    "python -m warpfile.pages all --check": "it takes days",
    "python -m warpfile.pages allocated_ptx": _TOOLS,
    "python -m warpfile.pages lengths --ptx": "tests/warpfile/pages/test_lengths.py runs it on one kernel",
    "make study": _MINUTES,
    "make evidence": "it takes an hour from nothing",
    "python -m warpfile.pages evidence regmutex": _MINUTES,
    "python -m warpfile.pages evidence --text": "tests/warpfile/pages/evidence/test_stored.py checks it",
    "make test": _MINUTES,
    "make check": _MINUTES,
    "make cacti": _PACKAGES,
    "make compiled": "make test has run it",
    "apt-get install python3 python3-venv make g++ perl": _PACKAGES,
    "apt-get install opensta qflow-tech-osu018": _PACKAGES,
    "pip install 'warpfile[cuda]'": _PACKAGES,
    "pip install 'warpfile[report]'": _PACKAGES,
    "pip install 'warpfile[study]'": _PACKAGES,
    "warpfile search examples/study/search.toml": "it takes hours",
    "warpfile search examples/study/search.toml --scheduler tcp://10.0.0.1:8786": _CLUSTER,
    "warpfile study examples/study/schemes.toml": _MINUTES,
    "warpfile study examples/study/check.toml": _MINUTES,
    "warpfile study examples/study/window.toml --scheduler tcp://10.0.0.1:8786": _CLUSTER,
    "dask scheduler": "it does not end",
    "warpfile power malekeh spmv --set lanes=4 --cycles 1000:1499 --delays sky130hd_tt.lib.gz": _MINUTES,
    "warpfile power malekeh spmv --set lanes=4 --cycles 1000:1499 --delays sky130hd_tt.lib.gz --wires"
    " --gigahertz 0.15 --json power.json": _MINUTES,
    "warpfile area swizzled": "its package is not installed, and yosys takes a minute",
    "python -m warpfile.pages regress swizzled --print": "its package is not installed, and it takes minutes",
    "dask worker tcp://10.0.0.1:8786 --nthreads 1 --nworkers 8": _CLUSTER,
    "python -m warpfile.hardware measure FOLDER": "it needs a GPU",
    "python -m warpfile.hardware listing": _TOOLS,
    "python -m warpfile.kernels.reference": "it rewrites the repository; tests/kernels compares what it would write",
    "python -m warpfile.kernels.build": _TOOLS,
}

#: Python on the pages: run as it is, or by another test, or only compiled.
PYTHON = {
    "README.md": "run",
    "docs/adding_a_scheme.md": _FOREIGN,
    "docs/integration.md": "compiled",
}
