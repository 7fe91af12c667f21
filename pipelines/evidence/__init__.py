"""What a document says of a claim: judgements, and the labellers that make them."""
