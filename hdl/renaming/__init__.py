"""A renaming table with what gives places away and takes them back, whatever a place holds."""
