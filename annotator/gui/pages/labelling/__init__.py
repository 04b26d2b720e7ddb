"""The Label page: queue, report and units."""
