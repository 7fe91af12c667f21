"""The determinism meter: the same judgements, asked for again under changed conditions."""
