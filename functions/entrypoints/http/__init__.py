"""The HTTP API: routes, bodies, and the one table from results to answers."""
