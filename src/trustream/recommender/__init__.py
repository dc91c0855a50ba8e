"""Latent Dirichlet allocation as a recommender: users are documents, the items they like words."""

from __future__ import annotations

from trustream.recommender.model import TopicRecommender
from trustream.recommender.results import RecommendationLists, Recommendations

__all__ = ["RecommendationLists", "Recommendations", "TopicRecommender"]
