"""Which instruction costs what: a golden run observed from outside, summed per instruction (docs/profile.md)."""

from warpfile.results.profiles.profile import Profile
from warpfile.results.profiles.profiling import profiled

__all__ = ["Profile", "profiled"]
