"""Learning to cluster: the library behind the book.

Each module is one idea and carries the name of its chapter; see the API page of
the book. Nothing is imported here, so that ``import mlbook.kmeans`` stays light.
"""

__version__ = "0.1.0"
