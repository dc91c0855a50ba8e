"""Recommend items to users: by topics of what they like, or by Poisson factorisation."""

from trustream.recommender.poisson_recommender import PoissonRecommender
from trustream.recommender.recommendations import RecommendationLists, Recommendations
from trustream.recommender.topic_recommender import TopicRecommender

__all__ = ["PoissonRecommender", "RecommendationLists", "Recommendations", "TopicRecommender"]
