"""How operands are gathered between issue and dispatch."""
