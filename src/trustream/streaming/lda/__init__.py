"""LDA on a stream: its settings, words that come and go, and how it is scored."""
