"""Algorithms: pure steps over any model, schedules, empirical Bayes and the driver."""
