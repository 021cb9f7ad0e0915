"""Quizzes on the pages."""

import pytest

pytestmark = pytest.mark.book


def test_the_place_of_a_quiz_is_filled_when_the_page_is_written(small_site):
    page = (small_site / "book" / "page.html").read_text()
    assert page.count('<form class="mlbook-quiz') == 1
    assert "1. 1 + 1?" in page and "data-quiz" not in page
