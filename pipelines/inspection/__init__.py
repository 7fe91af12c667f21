"""One example inspected in depth, for the terminal and the local page."""
