"""A local page to try things on: the commands that look at one example, in a browser."""
