"""Loaded by Dask in every local worker: of all processes that an interrupt reaches, the one that asks acts on it."""

from __future__ import annotations

import signal


def dask_setup(worker: object) -> None:
    """Let the asking process end this one. Programs that tasks have started end by themselves."""
    signal.signal(signal.SIGINT, lambda number, frame: None)
