"""What an architecture costs: synthesis with yosys, technologies, area reports."""
