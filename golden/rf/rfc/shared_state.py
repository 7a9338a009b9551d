"""What the steps of a cycle inside the cached file work on."""

from __future__ import annotations

from typing import NamedTuple

from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.rfc.events import Events
from warpfile.golden.rf.rfc.lines import Lines
from warpfile.golden.rf.rfc.queues import WriteQueues
from warpfile.golden.scheduler.places import Places


class SharedState(NamedTuple):
    """State that results and flushes share."""

    location: Location
    lines: Lines
    queues: WriteQueues
    places: Places
    events: Events
    banks: Banks
