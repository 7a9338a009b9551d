"""What every room prints and writes with: tables, progress, Markdown, files that appear whole."""
