from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from functions.domain.polling import WAIT_SECONDS_MAX, retry_after_seconds
from functions.domain.retry import RetryPolicy

POLICY = RetryPolicy(first_seconds=4, growth=4, seconds_max=1800)


@given(st.integers(-5, 10**9), st.floats(0, 0.999999))
def test_a_pause_is_bounded_for_any_attempt(attempt: int, jitter: float) -> None:
    wait = POLICY.delay(attempt, jitter)

    assert timedelta(seconds=2) <= wait <= timedelta(seconds=1800)


def test_pauses_grow_and_their_ranges_do_not_overlap() -> None:
    least = [POLICY.delay(attempt, 0.0) for attempt in range(1, 5)]
    most = [POLICY.delay(attempt, 0.999) for attempt in range(1, 5)]

    assert least == [timedelta(seconds=seconds) for seconds in (2, 8, 32, 128)]
    assert all(high < low for high, low in zip(most, least[1:], strict=False))


@given(st.floats(0, 10**7), st.floats(0, 10**7))
def test_clients_are_told_to_ask_ever_more_seldom(age: float, more: float) -> None:
    assert 1 <= retry_after_seconds(age) <= retry_after_seconds(age + more) <= WAIT_SECONDS_MAX
