"""Signatures of incoming calls, over raw bytes. Time is an argument; nothing is fetched."""
