"""A local web page for the commands that look at one example."""
