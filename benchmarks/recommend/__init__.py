"""The recommender next to other libraries: one file per measurement."""

# Name on the command line and module of this package.
MEASUREMENTS = {"speed": "speed", "quality": "quality", "time": "by_time", "study": "study"}
# Takes minutes, so it has to be asked for.
ON_REQUEST = ("study",)
