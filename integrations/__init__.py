"""Adapters of machines to hosts: designs of others that a generated machine goes into."""
