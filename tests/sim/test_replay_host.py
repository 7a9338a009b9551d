"""The pipe between the golden side and the simulation."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

FEED = """if True:
    import sys
    from concurrent.futures import Future
    from pathlib import Path
    from warpfile.sim.replay_host import feed
    feed(Path(sys.argv[1]), [bytes(1 << 20), b"end"], Future(), lambda: None)"""


def test_a_process_that_was_halted_goes_on_where_it_was(root: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "stream"
    os.mkfifo(pipe)
    feeding = subprocess.Popen([sys.executable, "-c", FEED, str(pipe)], cwd=root)
    try:
        with pipe.open("rb") as stream:
            read = stream.read(1)
            for _ in range(5):
                time.sleep(0.05)  # by then the pipe is full, and the write waits
                feeding.send_signal(signal.SIGSTOP)
                time.sleep(0.05)
                feeding.send_signal(signal.SIGCONT)
            read += stream.read()
    finally:
        feeding.wait(timeout=60)
    assert (len(read), read[-3:]) == ((1 << 20) + 3, b"end")
