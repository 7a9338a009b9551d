"""A session with OpenSTA: a netlist that is changed and timed again without being read again."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType


class TimingError(RuntimeError):
    """The timer refused a netlist or a command."""


#: File of parasitics; a name in it that the netlist has not is an error.
SPEF = "wires.spef"

_LOOP = """
puts "ready"
flush stdout
while {[gets stdin line] >= 0} {
  if {[catch {uplevel #0 $line} answer]} { puts "refused $answer" } else { puts "answer $answer" }
  flush stdout
}
"""


class Session:
    """OpenSTA in a folder of its own, with ``files`` read by ``script``; a context manager, which ends it."""

    def __init__(self, files: Mapping[str, str], script: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="warpfile-timing-")
        folder = Path(self._folder.name)
        for name, text in {**files, "sta.tcl": script + _LOOP}.items():
            (folder / name).write_text(text)
        self._process = subprocess.Popen(
            ["sta", "-no_splash", "-exit", "sta.tcl"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __enter__(self) -> Session:
        try:
            said = self._until("ready")
            if problems := [line for line in said if line.startswith("Error") or "black box" in line or SPEF in line]:
                raise TimingError(f"OpenSTA refuses: {problems[0].strip()}")
        except TimingError:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()

    def ask(self, command: str) -> str:
        """What a command of one line prints and answers. Raises :class:`TimingError` where it is refused."""
        assert self._process.stdin and "\n" not in command
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        said = self._until("answer ", "refused ")
        if said[-1].startswith("refused "):
            raise TimingError(f"OpenSTA refuses: {said[-1].removeprefix('refused ').strip()}")
        return "".join([*said[:-1], said[-1].removeprefix("answer ")])

    def _until(self, *starts: str) -> list[str]:
        """Lines up to the first that starts so."""
        said: list[str] = []
        assert self._process.stdout
        for line in self._process.stdout:
            said.append(line)
            if line.startswith(starts):
                return said
        raise TimingError(f"OpenSTA stops: {''.join(said[-1:]).strip() or 'no message'}")
