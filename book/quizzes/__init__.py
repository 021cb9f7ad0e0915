"""The self-check quizzes."""
