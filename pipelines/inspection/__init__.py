"""One example looked at in depth, for a terminal and for the local page alike."""
