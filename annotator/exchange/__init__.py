"""Import and export: releases, other benchmarks' formats, and foreign text made safe to show."""
