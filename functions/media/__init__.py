"""Media work through PyAV: photos in, moving pictures out, and what was delivered inspected."""
