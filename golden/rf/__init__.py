"""Where a register lives and what an access to it costs, one folder per part."""
