"""What was generated, as its manifest says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from warpfile.schemes import Scheme, find
from warpfile.spec.config import Config
from warpfile.spec.trace import Trace
from warpfile.spec.workload import Workload, prepare


@dataclass(frozen=True)
class Design:
    """A scheme and the configuration that it was generated for."""

    scheme: Scheme
    config: Config

    @classmethod
    def load(cls, manifest: Path) -> Design:
        """That of a manifest. Raises ``OSError`` and ``ValueError`` for a file that is none."""
        facts = json.loads(Path(manifest).read_text())
        scheme = find(facts["scheme"])
        return cls(scheme, scheme.parameters(**facts["parameters"]))

    def workload(self, trace: Path) -> Workload:
        """A trace (``warpfile trace``) cut into beats, with hints where the scheme needs them.

        Raises ``ValueError`` for one that the configuration cannot run.
        """
        return prepare(self.config, self.scheme.annotated(self.config, Trace.load(Path(trace))))
