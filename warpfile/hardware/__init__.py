"""What a GPU does where documentation is silent: probes, their outcomes, and the emulator on the same operands."""
