"""The subcommands, one module each; they read arguments and print, the work is done elsewhere."""
