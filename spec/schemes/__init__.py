"""What the parts of schemes declare once: parameters, hints, probes, counters, storage."""
