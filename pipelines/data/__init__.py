"""Records of the input, their loaders, and bundled samples."""
