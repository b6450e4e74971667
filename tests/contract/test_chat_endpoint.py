"""Chat models behind real HTTP: every way in which a server may fail, and a real server with a real model."""

from __future__ import annotations

import contextlib
import json
import logging
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from llama_cpp_server import llama_cpp_server
from scripted_endpoint import (
    WRONG_TYPES,
    Fault,
    ScriptedEndpoint,
    closed,
    closed_midway,
    completion,
    content_filter,
    cut,
    drip,
    empty_body,
    hang,
    not_json,
    redirect,
    refusal,
    status,
    wrong_content_type,
)

from qchunker.errors import (
    ConfigError,
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    QChunkerError,
)
from qchunker.models import chat
from qchunker.models.chat import ChatModel
from qchunker.models.llm import Completion, Reply, Request
from qchunker.models.load_llm import load_llm

pytestmark = pytest.mark.server

KEY = "sk-secret-4711"
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "maxLength": 40}},
    "required": ["answer"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "FIRST_PAUSE_S", 0.01)


def ask(own: str = "What?", **settings: Any) -> Request:
    return Request("Be brief.", "The pump must be primed. ", own, 50, **settings)


def echo(body: dict[str, Any]) -> str:
    return f"reply to {body['messages'][-1]['content'].rpartition(' ')[2]}"


def model(endpoint: ScriptedEndpoint, **settings: Any) -> ChatModel:
    return ChatModel("m", endpoint.url, KEY, **settings)


def only(replies: list[Reply]) -> Reply:
    (reply,) = replies
    return reply


def texts(replies: list[Reply]) -> list[str]:
    return [reply.text if isinstance(reply, Completion) else type(reply).__name__ for reply in replies]


def test_a_request_is_sent_whole_and_in_order() -> None:
    with ScriptedEndpoint(echo) as endpoint:
        request = ask("Why?", schema=SCHEMA, temperature=0.7, top_p=0.9, seed=3)
        reply = only(model(endpoint).complete([request]))
    assert reply == Completion("reply to Why?", False, 11, 4)
    (received,) = endpoint.requests
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "The pump must be primed. Why?"},
        ],
        "max_tokens": 50,
        "temperature": 0.7,
        "top_p": 0.9,
        "seed": 3,
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True}},
    }
    assert list(endpoint.finished.values()) == [1]


def test_without_schema_and_instructions_neither_is_sent() -> None:
    with ScriptedEndpoint() as endpoint:
        assert texts(model(endpoint).complete([Request("", "", "Hello", 5)])) == ["yes"]
        assert model(endpoint).complete([]) == []
    (body,) = endpoint.bodies()
    assert body["messages"] == [{"role": "user", "content": "Hello"}]
    assert "response_format" not in body


def test_replies_keep_the_order_of_requests_and_are_told_as_soon_as_they_are_there() -> None:
    told: list[int] = []
    last_may_go = threading.Event()

    def answer(body: dict[str, Any]) -> str:
        if body["messages"][-1]["content"].endswith("0"):
            assert last_may_go.wait(30)
        return echo(body)

    def done(place: int, reply: Completion) -> None:
        assert reply.text == f"reply to {place}"
        told.append(place)
        if len(told) == 5:  # all others are told while the first is still in work
            last_may_go.set()

    with ScriptedEndpoint(answer) as endpoint:
        replies = model(endpoint, concurrency=3).complete([ask(str(i)) for i in range(6)], done)
    assert texts(replies) == [f"reply to {i}" for i in range(6)]
    assert sorted(told) == list(range(6))
    assert told[-1] == 0


@pytest.mark.parametrize("concurrency", [1, 4])
def test_no_more_requests_than_allowed_are_in_work(concurrency: int) -> None:
    def answer(body: dict[str, Any]) -> str:
        time.sleep(0.05)
        return echo(body)

    with ScriptedEndpoint(answer) as endpoint:
        asked = model(endpoint, concurrency=concurrency)
        threads = [threading.Thread(target=asked.complete, args=([ask(str(i)) for i in range(12)],)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(endpoint.requests) == 24
    assert endpoint.most_at_once == concurrency


@pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503, 529])
def test_a_server_that_fails_for_a_while_gives_the_same_replies(code: int) -> None:
    requests = [ask(str(i)) for i in range(4)]
    with ScriptedEndpoint(echo) as good, ScriptedEndpoint(echo, [status(code)] * 5) as bad:
        patient = model(bad)
        assert patient.complete(requests) == model(good).complete(requests)
    assert patient.n_retries == 5
    assert len(bad.requests) == 9


def test_a_request_that_fails_for_good_does_not_stop_the_others() -> None:
    def answer(body: dict[str, Any]) -> str | Fault:
        return status(500, "out of memory") if body["messages"][-1]["content"].endswith("2") else echo(body)

    with ScriptedEndpoint(answer) as endpoint:
        asked = model(endpoint, max_retries=3)
        replies = asked.complete([ask(str(i)) for i in range(5)])
    assert texts(replies) == ["reply to 0", "reply to 1", "ModelUnavailableError", "reply to 3", "reply to 4"]
    failed = replies[2]
    assert isinstance(failed, ModelUnavailableError)
    assert failed.retryable
    assert "out of memory" in str(failed)
    assert asked.n_retries == 3


def waited(retry_after: str | None) -> float:
    with ScriptedEndpoint(faults=[status(429, retry_after=retry_after)]) as endpoint:
        assert texts(model(endpoint).complete([ask()])) == ["yes"]
    first, second = endpoint.requests
    return second.at - first.at


def test_a_server_is_left_alone_for_as_long_as_it_asks() -> None:
    assert waited("1") >= 0.95
    # Dates have whole seconds.
    assert waited(format_datetime(datetime.now(UTC) + timedelta(seconds=3), usegmt=True)) >= 1.5


@pytest.mark.parametrize("retry_after", [None, "-5", "soon", "nan", "inf", "Wed, 21 Oct 2015 07:28:00 GMT", "1e999"])
def test_without_a_usable_wish_the_pause_is_ours(retry_after: str | None) -> None:
    assert waited(retry_after) < 10


def test_nobody_waits_for_longer_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "LONGEST_WAIT_S", 0.2)
    assert 0.15 < waited("86400") < 10


def test_pauses_grow_and_differ_between_requests() -> None:
    pauses = [chat._pause_s(n, 0) for n in range(1, 9)]
    assert pauses[:4] == pytest.approx([0.01, 0.02, 0.04, 0.08])
    assert chat._pause_s(1, 0) < chat._pause_s(1, 1)
    assert chat._pause_s(1000, 7) <= 1.5 * chat.LONGEST_PAUSE_S


@pytest.mark.parametrize("fault", [closed(), closed_midway()], ids=["before", "midway"])
def test_closed_connections_are_opened_again(fault: Fault) -> None:
    with ScriptedEndpoint(echo, [fault] * 2) as endpoint:
        asked = model(endpoint)
        assert texts(asked.complete([ask("1")])) == ["reply to 1"]
        assert asked.n_retries == 2
        endpoint.fault(*[fault] * 3)
        reply = only(model(endpoint, max_retries=2).complete([ask()]))
    assert isinstance(reply, ModelUnavailableError)


def test_a_silent_server_is_asked_again_and_given_up() -> None:
    with ScriptedEndpoint(faults=[hang(20)] * 3) as endpoint:
        start = time.monotonic()
        silent, heard = model(endpoint, timeout_s=0.3, max_retries=1, concurrency=1).complete([ask(), ask()])
        assert time.monotonic() - start < 15
    assert isinstance(silent, ModelUnavailableError)
    assert heard == Completion("yes", False, 11, 1)


def test_a_server_may_be_silent_for_a_long_time_before_it_answers() -> None:
    with ScriptedEndpoint(faults=[hang(1)]) as endpoint:
        asked = model(endpoint, timeout_s=30)
        assert texts(asked.complete([ask()])) == ["late"]
        assert asked.n_retries == 0


def test_a_server_that_drips_is_given_up() -> None:
    with ScriptedEndpoint(faults=[drip(0.1)]) as endpoint:
        start = time.monotonic()
        reply = only(model(endpoint, timeout_s=0.5, max_retries=0).complete([ask()]))
        assert time.monotonic() - start < 15
    assert isinstance(reply, ModelUnavailableError)
    assert "too long" in str(reply)


def test_a_reply_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "_MOST_BYTES", 1000)
    with ScriptedEndpoint(lambda _: "x" * 2000) as endpoint:
        asked = model(endpoint)
        assert isinstance(only(asked.complete([ask()])), ModelOutputError)
    assert asked.n_retries == 0


def test_a_packed_reply_is_not_unpacked() -> None:
    with ScriptedEndpoint(faults=[Fault(content=b"\x1f\x8b", headers={"Content-Encoding": "gzip"})]) as endpoint:
        assert isinstance(only(model(endpoint).complete([ask()])), ModelOutputError)
    assert endpoint.requests[0].headers["accept-encoding"] == "identity"


UNUSABLE = {
    "type": wrong_content_type(), "json": not_json(), "empty": empty_body(), "bytes": Fault(content=b"\xff\xfe"),
    "nested": Fault(content="[" * 100_000), "nested object": Fault(content='{"a":' * 100_000),
    **{f"types {i}": Fault(content=json.dumps(value)) for i, value in enumerate(WRONG_TYPES)},
    "no text": Fault(content=lambda body: completion(body, None)),
    "blank": Fault(content=lambda body: completion(body, " \n")),
    "thoughts": Fault(content=lambda body: completion(body, None, message={"reasoning_content": "Hm."})),
    "deep error": Fault(content='{"error":' + "[" * 900 + "]" * 900 + "}"),
    "deep refusal": Fault(413, content='{"error":' + "[" * 900 + "]" * 900 + "}"),
    "deep reason": Fault(content=lambda body: completion(body, "", message={"refusal": [[[{}]]]})),
    "refusal": refusal(), "filter": content_filter(),
    "moderation": status(400, "flagged by the content policy", code="content_filter"),
    "forbidden": status(403, "Your input was flagged by moderation"),
    "long": status(400, "This model's maximum context length is 8 tokens", code="context_length_exceeded"),
    "too large": status(413, "Payload Too Large"),
}  # fmt: skip


@pytest.mark.parametrize("fault", UNUSABLE.values(), ids=UNUSABLE)
def test_unusable_answers_are_values_and_the_others_go_on(fault: Fault) -> None:
    with ScriptedEndpoint(faults=[fault]) as endpoint:
        asked = model(endpoint, concurrency=1)
        unusable, good = asked.complete([ask("1", schema=SCHEMA), ask("2", schema=SCHEMA)])
    assert isinstance(unusable, ModelOutputError)
    assert unusable.model == "m"
    assert isinstance(good, Completion)
    assert asked.n_retries == 0
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("fault", [refusal(), content_filter(), UNUSABLE["moderation"], UNUSABLE["forbidden"]])
def test_a_refusal_says_so(fault: Fault) -> None:
    with ScriptedEndpoint(faults=[fault]) as endpoint:
        assert "the model refuses" in str(only(model(endpoint).complete([ask()])))


def test_a_reply_that_was_cut_says_so() -> None:
    with ScriptedEndpoint(faults=[cut("half a"), cut(""), cut(None)]) as endpoint:
        replies = model(endpoint, concurrency=1).complete([ask(), ask(), ask()])
    assert replies == [Completion("half a", True, 11, 2), Completion("", True, 11, 0), Completion("", True, 11, 0)]


def test_thoughts_are_no_reply() -> None:
    fault = Fault(content=lambda body: completion(body, "yes", message={"reasoning_content": "no"}))
    with ScriptedEndpoint(faults=[fault]) as endpoint:
        assert texts(model(endpoint).complete([ask()])) == ["yes"]


def test_half_characters_come_in_as_marks_and_do_not_go_out() -> None:
    raw = json.dumps(completion({}, "a\ud83d\ude00b\ud800c")).encode()
    with ScriptedEndpoint(faults=[Fault(content=raw)]) as endpoint:
        inward, outward = model(endpoint, concurrency=1).complete([ask(), ask("\ud800")])
    assert isinstance(inward, Completion)
    assert inward.text == "a\U0001f600b\ufffdc"
    assert isinstance(outward, ModelOutputError)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("usage", [None, [], "x", {}, {"prompt_tokens": -1, "completion_tokens": "4"},
                                   {"prompt_tokens": True, "completion_tokens": 10**40},
                                   {"prompt_tokens": 1.5, "completion_tokens": None}], ids=str)  # fmt: skip
def test_impossible_counts_are_none(usage: Any) -> None:
    with ScriptedEndpoint(faults=[Fault(content=lambda body: completion(body, "yes") | {"usage": usage})]) as endpoint:
        assert model(endpoint).complete([ask()]) == [Completion("yes")]


def taking(*refused: str, code: int = 400, says: str = "{} is not supported by this model", **error: Any) -> Any:
    """A server that refuses what a request holds, by name or style."""

    def answer(body: dict[str, Any]) -> str | Fault:
        style = body.get("response_format", {}).get("type", "")
        for word in refused:
            if word == style or word in body:
                return status(code, says.format(word), **error)
        return style or "no style"

    return answer


FORMAT_REFUSALS: dict[str, dict[str, Any]] = {
    "400": {"code": 400},
    "422": {"code": 422, "says": "response_format.type must be text"},
    "silent": {"code": 400, "says": "Bad Request"},
    "router": {"code": 404, "says": "No endpoints found that can handle the requested parameters."},
    "unknown": {"code": 501, "says": "Not implemented"},
}


@pytest.mark.parametrize("how", FORMAT_REFUSALS.values(), ids=FORMAT_REFUSALS)
@pytest.mark.parametrize(("refused", "style"), [(["json_schema"], "json_object"),
                                                (["json_schema", "json_object"], "no style")])  # fmt: skip
def test_a_server_without_schemas_is_asked_without(refused: list[str], style: str, how: dict[str, Any]) -> None:
    with ScriptedEndpoint(taking(*refused, **how)) as endpoint:
        asked = model(endpoint)
        assert texts(asked.complete([ask(schema=SCHEMA)])) == [style]
        assert len(endpoint.requests) == 1 + len(refused)
        assert texts(asked.complete([ask(schema=SCHEMA)] * 5)) == [style] * 5
        assert len(endpoint.requests) == 6 + len(refused)  # it is remembered
        assert asked.n_retries == 0


def test_a_schema_that_is_refused_does_not_keep_others_from_being_sent() -> None:
    def answer(body: dict[str, Any]) -> str | Fault:
        form = body.get("response_format", {})
        if form.get("json_schema", {}).get("schema") == {"type": "odd"}:
            return status(400, "Invalid schema for response_format")
        return str(form.get("type"))

    with ScriptedEndpoint(answer) as endpoint:
        asked = model(endpoint, concurrency=1)
        requests = [ask(schema={"type": "odd"}), ask(schema=SCHEMA)] * 2
        assert texts(asked.complete(requests)) == ["json_object", "json_schema"] * 2
    assert len(endpoint.requests) == 5


def test_a_server_without_schemas_is_asked_without_from_many_threads() -> None:
    with ScriptedEndpoint(taking("json_schema")) as endpoint:
        asked = model(endpoint)
        assert texts(asked.complete([ask(str(i), schema=SCHEMA) for i in range(30)])) == ["json_object"] * 30
    assert len(endpoint.requests) <= 30 + 8


@pytest.mark.parametrize(("style", "sent"), [("json_schema", "json_schema"), ("json_object", "json_object"),
                                             ("none", "no style")])  # fmt: skip
def test_the_style_of_schemas_may_be_fixed(style: str, sent: str) -> None:
    with ScriptedEndpoint(taking()) as endpoint:
        assert texts(model(endpoint, schema_style=style).complete([ask(schema=SCHEMA)])) == [sent]
    with ScriptedEndpoint(taking("json_schema", "json_object")) as endpoint:
        reply = only(model(endpoint, schema_style=style).complete([ask(schema=SCHEMA)]))
        assert isinstance(reply, Completion if style == "none" else ModelOutputError)
        assert len(endpoint.requests) == 1


@pytest.mark.parametrize("error", [{}, {"param": "PARAM", "says": "Unsupported value"}], ids=["named", "param"])
@pytest.mark.parametrize("refused", [["temperature"], ["top_p"], ["seed"], ["temperature", "top_p", "seed"]], ids=str)
def test_parameters_that_are_refused_are_left_out(refused: list[str], error: dict[str, str]) -> None:
    def answer(body: dict[str, Any]) -> str | Fault:
        for name in refused:
            if name in body:
                given = {key: value.replace("PARAM", name) for key, value in error.items()}
                return status(400, given.pop("says", f"Unsupported parameter: '{name}'"), **given)
        return f"left: {' '.join(sorted({'temperature', 'top_p', 'seed'} & set(body)))}"

    left = " ".join(sorted({"temperature", "top_p", "seed"} - set(refused)))
    with ScriptedEndpoint(answer) as endpoint:
        asked = model(endpoint)
        for n in (len(refused) + 1, len(refused) + 2):
            assert texts(asked.complete([ask(schema=SCHEMA)])) == [f"left: {left}"]
            assert len(endpoint.requests) == n


def test_the_newer_name_of_the_limit_is_used_where_it_is_asked_for() -> None:
    says = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    with ScriptedEndpoint(taking("max_tokens", says=says, param="max_tokens")) as endpoint:
        asked = model(endpoint)
        assert texts(asked.complete([ask()])) == ["no style"]
        assert texts(asked.complete([ask()])) == ["no style"]
    assert [("max_tokens" in body, body.get("max_completion_tokens")) for body in endpoint.bodies()] == [
        (True, None),
        (False, 50),
        (False, 50),
    ]


def test_a_server_may_refuse_many_things_one_after_the_other() -> None:
    refuses = taking(
        "seed", "max_tokens", "json_schema", "temperature", says="{}: use max_completion_tokens for limits"
    )
    with ScriptedEndpoint(refuses) as endpoint:
        assert texts(model(endpoint).complete([ask(schema=SCHEMA)])) == ["json_object"]
    assert len(endpoint.requests) == 5


def test_words_of_a_document_that_the_server_repeats_change_nothing_for_good() -> None:
    def answer(body: dict[str, Any]) -> str | Fault:
        content = body["messages"][-1]["content"]
        return status(400, f"cannot read {content!r}") if "forbidden" in content else "yes"

    with ScriptedEndpoint(answer) as endpoint:
        asked = model(endpoint, concurrency=1)
        bad, good = asked.complete([ask("forbidden temperature and seed"), ask("other")])
    assert isinstance(bad, ModelOutputError)
    assert isinstance(good, Completion)
    assert {"temperature", "seed", "top_p", "max_tokens"} <= set(endpoint.bodies()[-1])


HOPELESS = {
    "401": status(401, f"Incorrect API key provided: {KEY}"), "403": status(403, "no access"),
    "402": status(402, "Insufficient Balance"), "404": status(404, "The model `m` does not exist"),
    "quota": status(429, "You exceeded your quota", code="insufficient_quota"),
    "redirect": redirect("http://127.0.0.1:9/v1/chat/completions"),
}  # fmt: skip


@pytest.mark.parametrize("fault", HOPELESS.values(), ids=HOPELESS)
def test_what_would_fail_every_request_is_raised(fault: Fault) -> None:
    with ScriptedEndpoint(lambda _: fault) as endpoint, pytest.raises(ModelError) as caught:
        model(endpoint, concurrency=2).complete([ask(str(i), schema=SCHEMA) for i in range(20)])
    assert not caught.value.retryable
    assert caught.value.hint
    assert KEY not in str(caught.value)
    assert len(endpoint.requests) < 20


def test_a_model_that_has_answered_is_there() -> None:
    with ScriptedEndpoint() as endpoint:
        asked = model(endpoint, concurrency=1, max_retries=0)
        assert texts(asked.complete([ask()])) == ["yes"]
        endpoint.fault(HOPELESS["404"], HOPELESS["redirect"])
        assert texts(asked.complete([ask()] * 3)) == ["ModelError", "ModelError", "yes"]
    assert texts(asked.complete([ask()] * 2)) == ["ModelUnavailableError"] * 2


def test_completions_are_told_before_a_key_is_refused() -> None:
    told: list[int] = []
    answer = lambda body: status(401) if echo(body).endswith("2") else "yes"  # noqa: E731
    with ScriptedEndpoint(answer) as endpoint, pytest.raises(ModelError, match="key"):
        model(endpoint, concurrency=1).complete([ask(str(i)) for i in range(5)], lambda i, _: told.append(i))
    assert told[:2] == [0, 1]
    assert 2 not in told  # the next may have been answered, and is kept as well, before the refusal is raised


def test_redirects_are_not_followed() -> None:
    with (
        ScriptedEndpoint() as elsewhere,
        ScriptedEndpoint(faults=[redirect(f"{elsewhere.url}/chat/completions")]) as here,
        pytest.raises(ModelError, match="redirects"),
    ):
        model(here).complete([ask()])
    assert elsewhere.requests == []


@pytest.mark.parametrize("host", ["127.0.0.1:9", "127.0.0.1:1"])
def test_a_server_that_is_not_there_is_raised_after_retries(host: str) -> None:
    asked = ChatModel("m", f"http://{host}/v1", KEY, max_retries=2)
    with pytest.raises(ModelUnavailableError, match="does not answer"):
        asked.complete([ask()] * 3)
    assert asked.n_retries >= 2


def test_an_error_of_the_caller_is_the_callers() -> None:
    def done(place: int, reply: Completion) -> None:
        raise KeyError(place)

    with ScriptedEndpoint() as endpoint, pytest.raises(KeyError):
        model(endpoint).complete([ask()] * 3, done)


def test_keys_and_passwords_are_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    says = f"you sent Bearer {KEY} to user:hidden"
    with caplog.at_level(logging.DEBUG), ScriptedEndpoint(lambda _: refusal(says)) as hostile:
        url = hostile.url.replace("//", "//user:hidden@") + "?part=1"
        asked = ChatModel("m", url, KEY, max_retries=0)
        shown = [asked.id, repr(asked), str(asked)]
        plain = ChatModel("m", hostile.url.replace("//", "//user:hidden@"), KEY, max_retries=0)
        for code in (200, 400, 404, 413, 422, 429, 500):
            hostile.fault(*[status(code, says)] * 2 if code > 200 else ())
            for each in (asked, plain):
                with contextlib.suppress(ModelError):
                    for reply in each.complete([ask(schema=SCHEMA)]):
                        assert isinstance(reply, ModelError)
                        shown += [str(reply), repr(reply), reply.hint, str(reply.__cause__)]
    with pytest.raises(ModelError) as caught, ScriptedEndpoint(lambda _: status(401, KEY)) as endpoint:
        ChatModel("m", endpoint.url, KEY).complete([ask()])
    shown += [str(caught.value), repr(caught.value), *caplog.messages]
    assert len(shown) > 20
    # A server with a user and a password gets these.
    assert {request.headers["authorization"].partition(" ")[0] for request in hostile.requests} == {"Basic"}
    assert {request.path for request in hostile.requests} == {"/v1/chat/completions?part=1", "/v1/chat/completions"}
    assert not [text for text in shown if KEY in text or "hidden" in text]
    assert asked.id == plain.id
    assert asked.id.startswith("m@127.0.0.1:")


@pytest.mark.parametrize("url", ["", "host", "ftp://h/v1", "http://", "http://user:hidden@h:99999/v1", "http://h:0/v1",
                                 "http://user:hidden@[::1/v1"])  # fmt: skip
def test_impossible_addresses_are_refused_without_the_password(url: str) -> None:
    with pytest.raises(QChunkerError) as caught:
        ChatModel("m", url)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("settings", [{"concurrency": 0}, {"timeout_s": 0.0}, {"timeout_s": float("nan")},
                                      {"max_retries": -1}, {"schema_style": "xml"}], ids=str)  # fmt: skip
def test_impossible_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        ChatModel("m", "http://127.0.0.1:9/v1", **settings)
    assert caught.value.field in settings


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send")
def test_an_interrupt_ends_a_program_at_once() -> None:
    program = """
        import signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
        from qchunker.models.chat import ChatModel
        from qchunker.models.llm import Request
        model = ChatModel("m", sys.argv[1], timeout_s=300)
        model.complete([Request("", "", str(i), 5) for i in range(20)])
    """
    with ScriptedEndpoint(lambda _: hang(120)) as endpoint:
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program), endpoint.url], stderr=subprocess.PIPE
        )
        try:
            deadline = time.monotonic() + 60
            while len(endpoint.requests) < 8 and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
        finally:
            process.kill()
    assert b"KeyboardInterrupt" in said
    assert process.returncode != 0
    assert len(endpoint.requests) == 8


# A real server with a real model


@pytest.fixture(scope="module")
def llama_cpp() -> Iterator[str]:
    with llama_cpp_server(KEY) as url:
        yield url


@pytest.mark.model
def test_a_real_server_answers_within_the_schema(llama_cpp: str) -> None:
    asked = load_llm(llama_cpp, "smollm2", api_key=KEY, concurrency=2)
    told: list[int] = []
    requests = [ask(f"Where is {city}?", schema=SCHEMA) for city in ("Paris", "Rome")]
    replies = asked.complete(requests, lambda place, _: told.append(place))
    for reply in replies:
        assert isinstance(reply, Completion)
        assert not reply.is_cut
        assert reply.prompt_tokens > 10
        assert 0 < reply.completion_tokens <= 50
        (answer,) = json.loads(reply.text).values()
        assert isinstance(answer, str)
        assert len(answer) <= 40
    assert sorted(told) == [0, 1]


@pytest.mark.model
def test_a_real_server_cuts_and_refuses(llama_cpp: str) -> None:
    asked = load_llm(llama_cpp, "smollm2", api_key=KEY)
    short, long = asked.complete([Request("", "Count to 99: ", "1, 2, 3,", 4), Request("", "word " * 5000, "", 4)])
    assert isinstance(short, Completion)
    assert short.is_cut
    assert short.completion_tokens == 4
    assert isinstance(long, ModelOutputError)
    assert "context size" in str(long)
    with pytest.raises(ModelError, match="key"):
        load_llm(llama_cpp, "smollm2", api_key="sk-wrong").complete([ask()])


def test_a_key_that_the_server_repeats_in_a_reply_is_not_kept() -> None:
    with ScriptedEndpoint(lambda _: f"The key is {KEY}.") as endpoint:
        (reply,) = ChatModel("m", endpoint.url, KEY).complete([Request("", "", "x", 5)])
    assert isinstance(reply, Completion)
    assert reply.text == "The key is ***."
