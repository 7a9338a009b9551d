"""What golden, hdl, sim and synth agree on: configuration, records, probes, environment."""
