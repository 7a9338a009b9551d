"""Tables "paper says, we measure" of the schemes, from golden-model runs of the bundled kernels."""
