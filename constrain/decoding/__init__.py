"""The only code that knows torch and transformers: tokenizers, models, the decode loop."""
