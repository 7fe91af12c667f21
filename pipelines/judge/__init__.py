"""What a document says of a claim: judgements, and the judges that make them."""
