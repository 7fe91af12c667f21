"""Everything that talks to a generative model: model folders, servers, the client and its cache."""
