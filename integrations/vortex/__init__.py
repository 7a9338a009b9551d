"""Vortex, a RISC-V GPGPU: an issue slice around a machine (``docs/integration-vortex.md``)."""
