"""The book's own code: figures, quizzes, experiments; it imports the library."""
