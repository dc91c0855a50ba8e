"""Names under which a model and what belongs to it are saved in a store."""

from __future__ import annotations

DEFAULT_NAME = "model"
# Ends of names: of a model's settings, of the labels of its topics, of how the cluster that trains
# it is doing, and of the lease to retrain it.
SETTINGS, LABELS, CLUSTER, RETRAINING = ".settings", ".labels", ".cluster", ".retrain"
