"""The command line, and the table in which all parts of a scheme meet."""

from warpfile.compiled import install

install()
