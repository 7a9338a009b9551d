"""Lockstep of RTL and golden model: simulators, test harness, cocotb bench, runner."""
