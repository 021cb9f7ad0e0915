"""Quizzes on the pages."""

import pytest

pytestmark = pytest.mark.book


def test_the_place_of_a_quiz_is_filled_when_the_page_is_written(small_site):
    page = (small_site / "book" / "page.html").read_text()
    assert page.count('<form class="mlbook-quiz') == 1
    assert "1. 1 + 1?" in page and "data-quiz" not in page


def test_an_answer_is_a_question_with_a_field(small_site):
    page = (small_site / "book" / "page.html").read_text()
    form = page.partition('<form class="mlbook-answer"')[2].partition("</form>")[0]
    question = form.partition("<label")[2].partition("</label>")[0]
    assert "What is <math>" in question and "$" not in question
    assert 'id="answer-hard"' in form and 'for="answer-hard"' in form
    assert '<div class="mlbook-answer-field" hidden>' in form, "a script shows it"
    assert ">4" not in form, "the answer is in no text"
