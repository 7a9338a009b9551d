"""Traces of kernels that never existed: random ones, and directed ones for one corner each."""

from warpfile.spec.stress.program import PROFILES
from warpfile.spec.stress.recorder import SHARED_BYTES
from warpfile.spec.stress.walk import stress_trace

__all__ = ["PROFILES", "SHARED_BYTES", "stress_trace"]
