"""One thin module per trigger: decode, call one stage, encode."""
