"""Recommend items by latent Dirichlet allocation: users are documents, liked items are words."""

from trustream.recommender.recommendations import RecommendationLists, Recommendations
from trustream.recommender.topic_recommender import TopicRecommender

__all__ = ["RecommendationLists", "Recommendations", "TopicRecommender"]
