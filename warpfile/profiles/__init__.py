"""Which instruction costs what: a golden run observed from outside, summed per instruction (docs/profile.md)."""

from warpfile.profiles.profile import Profile
from warpfile.profiles.profiling import profiled

__all__ = ["Profile", "profiled"]
