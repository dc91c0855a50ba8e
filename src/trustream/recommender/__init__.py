"""Recommend items to users: by topics of what they like, by factors, and by what is liked now."""

from trustream.recommender.poisson_recommender import PoissonRecommender
from trustream.recommender.recommendations import RecommendationLists, Recommendations
from trustream.recommender.topic_recommender import TopicRecommender
from trustream.recommender.trending_recommender import TrendingRecommender

__all__ = [
    "PoissonRecommender",
    "RecommendationLists",
    "Recommendations",
    "TopicRecommender",
    "TrendingRecommender",
]
