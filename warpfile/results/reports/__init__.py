"""Reports: what a study found, as one page with charts (docs/report.md)."""
