"""What runs and syntheses say: cycles, counters, areas, studies, searches, reports, profiles."""
