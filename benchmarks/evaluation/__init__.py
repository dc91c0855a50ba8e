"""How fast and how exact the evaluation is, next to other libraries: one file a measurement."""
