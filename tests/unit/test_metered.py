"""Equal requests are sent once, replies are remembered, and nothing is sent that could cost more than what is left."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qchunker.errors import BudgetError, ConfigError, ModelError, ModelOutputError, ModelUnavailableError
from qchunker.models.dry_run import DryRunLLM
from qchunker.models.llm import Completion, Done, Reply, Request
from qchunker.models.metered import (
    MeteredLLM,
    Price,
    Spending,
    estimated_tokens,
    prompt_tokens,
    request_key,
)
from strategies import any_text


class Memory:
    """Completions in a dict."""

    def __init__(self) -> None:
        self.kept: dict[bytes, bytes] = {}

    def get_many(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        return {key: self.kept[key] for key in keys if key in self.kept}

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        self.kept.update(values)


class Echo:
    """Says what it was asked; requests that hold ``fail`` fail."""

    def __init__(self, name: str = "echo", *, prompt: int = 10, written: int = 5) -> None:
        self.id = name
        self.sent: list[Request] = []
        self.prompt, self.written = prompt, written

    def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
        self.sent += requests
        replies: list[Reply] = [
            ModelUnavailableError(self.id, "busy") if "fail" in one.own
            else Completion(f"said {one.own}", False, self.prompt, self.written)
            for one in requests
        ]  # fmt: skip
        for at in reversed(range(len(requests))):  # in any order
            reply = replies[at]
            if done is not None and isinstance(reply, Completion):
                done(at, reply)
        return replies


def ask(own: str = "a", **more: Any) -> Request:
    return Request("system", "shared", own, **({"max_tokens": 100} | more))


def texts(replies: Sequence[Reply]) -> list[str]:
    return [one.text if isinstance(one, Completion) else "failed" for one in replies]


def test_equal_requests_of_one_call_are_sent_once_and_answered_in_order() -> None:
    model = Echo()
    told: list[tuple[int, str]] = []
    metered = MeteredLLM(model)
    replies = metered.complete([ask("a"), ask("b"), ask("a"), ask("a")], lambda at, one: told.append((at, one.text)))
    assert texts(replies) == ["said a", "said b", "said a", "said a"]
    assert [one.own for one in model.sent] == ["a", "b"]
    assert sorted(told) == [(0, "said a"), (1, "said b"), (2, "said a"), (3, "said a")]
    assert metered.spending == Spending(2, 0, 0, 20, 10)
    assert metered.complete([]) == []


@pytest.mark.parametrize("changed", [
    {"system": "x"}, {"shared": "x"}, {"own": "x"}, {"max_tokens": 101}, {"schema": {"type": "object"}}, {"temperature": 0.1},
    {"top_p": 0.9}, {"seed": 1}, {"system": "syst", "shared": "emshared"},
])  # fmt: skip
def test_a_reply_is_remembered_for_the_same_request_and_model_only(changed: dict[str, Any]) -> None:
    memory, model = Memory(), Echo()
    MeteredLLM(model, memory).complete([ask()])
    again = MeteredLLM(model, memory)
    assert texts(again.complete([ask()])) == ["said a"]
    assert (len(model.sent), again.spending) == (1, Spending(remembered=1))
    again.complete([ask()._replace(**changed)])
    assert len(model.sent) == 2
    other = Echo("other")
    MeteredLLM(other, memory).complete([ask()])
    assert len(other.sent) == 1


def test_the_order_of_names_in_a_schema_does_not_matter() -> None:
    one, other = {"type": "object", "required": ["a"]}, {"required": ["a"], "type": "object"}
    assert request_key("m", ask(schema=one)) == request_key("m", ask(schema=other))


def test_failures_are_counted_and_asked_for_again_and_the_others_kept() -> None:
    memory, model = Memory(), Echo()
    metered = MeteredLLM(model, memory)
    assert texts(metered.complete([ask("a"), ask("fail"), ask("b")])) == ["said a", "failed", "said b"]
    assert metered.spending == Spending(3, 0, 1, 20, 10)
    again = MeteredLLM(model, memory)
    assert texts(again.complete([ask("a"), ask("fail"), ask("b")])) == ["said a", "failed", "said b"]
    assert again.spending == Spending(1, 2, 1, 0, 0)
    assert [one.own for one in model.sent] == ["a", "fail", "b", "fail"]


def test_what_was_answered_before_everything_failed_is_kept() -> None:
    class Breaks(Echo):
        def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
            super().complete(requests[:2], done)
            raise ModelError(self.id, "the server refuses the key")

    memory = Memory()
    metered = MeteredLLM(Breaks(), memory)
    with pytest.raises(ModelError, match="refuses the key"):
        metered.complete([ask("a"), ask("b"), ask("c")])
    assert metered.spending.calls == len(memory.kept) == 2
    good = Echo()
    MeteredLLM(good, memory).complete([ask("a"), ask("b"), ask("c")])
    assert [one.own for one in good.sent] == ["c"]


@pytest.mark.parametrize(
    "damaged", [b"", b"\xff\xfe", b"{", b"[]", b"null", b'"text"', b'{"text": null}', b'{"words": "a"}', b"7"]
)
def test_a_kept_reply_that_is_damaged_is_asked_for_again(damaged: bytes) -> None:
    memory, model = Memory(), Echo()
    memory.kept[request_key("echo", ask())] = damaged
    metered = MeteredLLM(model, memory)
    assert texts(metered.complete([ask()])) == ["said a"]
    assert metered.spending == Spending(1, 0, 0, 10, 5)
    assert texts(MeteredLLM(model, memory).complete([ask()])) == ["said a"]
    assert len(model.sent) == 1


@given(any_text, st.booleans(), st.integers(0, 10**12), st.integers(0, 10**12))
def test_any_completion_comes_back_as_it_was(text: str, is_cut: bool, read: int, written: int) -> None:
    class Says(Echo):
        def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
            assert done is not None
            done(0, given_reply)
            return [given_reply]

    given_reply = Completion(text, is_cut, read, written)
    memory = Memory()
    MeteredLLM(Says(), memory).complete([ask()])
    assert MeteredLLM(Says(), memory).complete([ask()]) == [given_reply]


def test_tokens_that_the_model_does_not_count_are_estimated() -> None:
    metered = MeteredLLM(Echo(prompt=0, written=0))
    metered.complete([ask("词" * 30)])
    assert metered.spending.prompt_tokens == prompt_tokens(ask("词" * 30)) == 16 + 4 + 30
    assert metered.spending.completion_tokens == estimated_tokens("said " + "词" * 30) == 32


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abc", 1), ("abcd", 2), ("中文", 2), ("中ab", 2), ("🙂", 1), ("é" * 9, 3)]
)
def test_a_rule_of_thumb_for_tokens(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


# Budgets: a request of 1 token with 100 of reply may cost 16 + 5 + 100 = 121 tokens at most; Echo says 10 + 5.

MOST = prompt_tokens(ask()) + 100


@pytest.mark.parametrize(
    ("budget", "n_sent"), [(None, 4), (MOST * 4, 4), (MOST + 45, 4), (MOST + 44, 3), (MOST, 1), (MOST - 1, 0), (0, 0)]
)
def test_nothing_is_sent_that_could_cost_more_than_what_is_left(budget: float | None, n_sent: int) -> None:
    model = Echo()
    metered = MeteredLLM(model, budget=budget)
    for own in "abcd":
        try:
            metered.complete([ask(own)])
        except BudgetError as error:
            assert error.budget == budget
            assert f"{15 * len(model.sent):,} tokens spent" in error.reason
            assert "--budget" in error.hint
            assert not error.retryable
            break
    assert len(model.sent) == n_sent
    assert metered.spending.tokens == 15 * n_sent


def test_as_many_requests_are_sent_as_surely_fit_and_no_more() -> None:
    model = Echo()
    metered = MeteredLLM(model, budget=2 * MOST)
    assert len(metered.complete([ask("a"), ask("b"), ask("c"), ask("d")])) == 4  # replies are shorter than allowed
    assert [request.own for request in model.sent] == ["a", "b", "c", "d"]
    small = MeteredLLM(model, budget=MOST - 1)
    with pytest.raises(BudgetError, match="the next request may cost"):
        small.complete([ask("e")])
    assert len(model.sent) == 4
    assert small.spending == Spending()


class Gone(Echo):
    """Answers nothing."""

    def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
        self.sent += requests
        return [ModelUnavailableError("gone", "busy") for _ in requests]


def test_a_model_that_is_gone_is_given_up() -> None:
    model = Gone()
    metered = MeteredLLM(model, patience=3)
    assert len(metered.complete([ask("a"), ask("b")])) == 2
    with pytest.raises(ModelUnavailableError):
        metered.complete([ask("c")])
    assert metered.spending.failed == 3


def test_what_is_remembered_costs_nothing() -> None:
    memory = Memory()
    MeteredLLM(Echo(), memory).complete([ask("a"), ask("b")])
    metered = MeteredLLM(Echo(), memory, budget=0, price=Price(1, 1))
    assert texts(metered.complete([ask("a"), ask("b"), ask("a")])) == ["said a", "said b", "said a"]
    assert metered.spending == Spending(remembered=2)
    with pytest.raises(BudgetError, match="0 spent"):
        metered.complete([ask("a"), ask("c")])


def test_with_a_price_the_budget_is_money() -> None:
    price = Price(prompt=2_000_000, completion=3_000_000)  # 2 and 3 per token
    most = 2 * (MOST - 100) + 3 * 100
    model = Echo()
    metered = MeteredLLM(model, budget=most + 35, price=price)
    metered.complete([ask("a")])
    assert metered.spending.money(price) == 2 * 10 + 3 * 5 == 35
    metered.complete([ask("b")])
    with pytest.raises(BudgetError, match="70 spent"):
        metered.complete([ask("c")])
    assert len(model.sent) == 2
    free = MeteredLLM(Echo(), budget=0, price=Price(0, 0))
    assert texts(free.complete([ask()])) == ["said a"]


def test_several_models_share_a_budget() -> None:
    spending = Spending()
    first, second = (MeteredLLM(Echo(name), budget=MOST + 20, spending=spending) for name in ("one", "two"))
    first.complete([ask("a")])
    second.complete([ask("a")])
    with pytest.raises(BudgetError, match="30 tokens spent"):
        first.complete([ask("b")])
    assert spending == Spending(2, 0, 0, 20, 10)


@pytest.mark.parametrize("budget", [-1, float("nan"), float("inf"), -0.5])
def test_a_budget_that_is_no_amount_is_refused(budget: float) -> None:
    with pytest.raises(ConfigError, match="budget"):
        MeteredLLM(Echo(), budget=budget)


def test_threads_that_are_told_at_once_lose_nothing() -> None:
    class Threads(Echo):
        def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
            assert done is not None
            replies: list[Reply] = [Completion(one.own, False, 1, 1) for one in requests]
            threads = [threading.Thread(target=done, args=pair) for pair in enumerate(replies)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return replies

    memory = Memory()
    metered = MeteredLLM(Threads(), memory)
    metered.complete([ask(str(n)) for n in range(200)])
    assert (metered.spending.calls, metered.spending.tokens, len(memory.kept)) == (200, 400, 200)


# Dry runs


def test_a_dry_run_answers_nothing_and_counts_everything() -> None:
    dry = DryRunLLM("m")
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    replies = dry.complete([ask("word " * 60, schema=schema), ask("word " * 60), ask("word " * 6000, schema=schema)])
    assert all(isinstance(one, ModelError) and not isinstance(one, ModelOutputError) for one in replies)
    assert dry.calls == 3
    assert dry.prompt_tokens == 2 * prompt_tokens(ask("word " * 60)) + prompt_tokens(ask("word " * 6000))
    assert dry.completion_tokens == 100 + (60 + 0) + 100  # never more than a reply may have
    memory = Memory()
    metered = MeteredLLM(DryRunLLM("m"), memory, budget=0, price=Price(0, 0))
    metered.complete([ask()])
    assert memory.kept == {}


def test_parts_of_a_request_are_kept_apart() -> None:
    parts = [("m", "s", "", ""), ("m", "", "s", ""), ("m", "", "", "s"), ("ms", "", "", ""), ("", "ms", "", "")]
    keys = {request_key(model, Request(system, shared, own, 1)) for model, system, shared, own in parts}
    assert len(keys) == len(parts)


def test_what_is_kept_is_readable_json() -> None:
    memory = Memory()
    MeteredLLM(Echo(), memory).complete([ask("甲")])
    (value,) = memory.kept.values()
    assert json.loads(value) == {"text": "said 甲", "is_cut": False, "prompt_tokens": 10, "completion_tokens": 5}


class Refusing(Echo):
    """Answers, and nothing that can be used."""

    def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
        self.sent += requests
        return [ModelOutputError("refusing", "an empty reply") for _ in requests]


def test_answers_that_cannot_be_used_have_their_price() -> None:
    metered = MeteredLLM(Refusing(), budget=2 * MOST)
    metered.complete([ask("a")])
    assert metered.spending.tokens == MOST
    metered.complete([ask("b")])
    with pytest.raises(BudgetError):
        metered.complete([ask("c")])
