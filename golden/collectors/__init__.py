"""How operands are gathered, kept and forwarded, one folder per part."""
