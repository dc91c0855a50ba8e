"""Names under which a model and what belongs to it are saved in a store."""

from __future__ import annotations

DEFAULT_NAME = "model"
# Ends of names: of a model's settings, of the labels of its topics, and of the lease to retrain it.
SETTINGS, LABELS, RETRAINING = ".settings", ".labels", ".retrain"
