"""Models behind real HTTP: a server of our own that answers as vLLM does, with the numbers of a real model."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

import qchunker
from qchunker import ScoringConfig, errors
from qchunker.models.fake import HashingEmbedder, UnigramLM
from qchunker.models.load import Models, load_embedder, load_lm
from qchunker.models.openvino_lm import OpenVinoLM

pytestmark = pytest.mark.server

EN = "The pump must be primed before the first start. Never run it dry."
ZH = "启动前必须向泵内灌水，严禁干转。"
KEY = "sk-secret-4711"


class Server(ThreadingHTTPServer):
    """``style`` is how log-probabilities are given; ``failures`` are status codes to answer with first."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.style = "vllm"
        self.failures: list[int] = []
        self.requests: list[tuple[str, Any]] = []
        self.lm: Any = None
        self.message = "not now"
        self.answer: Any = ...
        self.raw: bytes | None = None
        self.value: Any = ...

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body))
        if self.server.failures:
            self._reply(self.server.failures.pop(0), {"error": {"message": self.server.message}})
            return
        if self.server.answer is not ...:
            self._reply(200, self.server.answer)
            return
        answer = {
            "/v1/embeddings": self._embeddings, "/tokenize": self._tokenize, "/v1/completions": self._completions
        }[self.path]  # fmt: skip
        self._reply(200, answer(body))

    def _embeddings(self, body: Any) -> Any:
        vectors = HashingEmbedder().encode(body["input"])
        data = [{"object": "embedding", "index": i, "embedding": (3 * v).tolist()} for i, v in enumerate(vectors)]
        return {"object": "list", "model": body["model"], "data": data[::-1], "usage": {}}

    def _tokenize(self, body: Any) -> Any:
        ids = list(self.server.lm._ids([body["prompt"]])[0])
        return {"tokens": [self.server.lm._neutral, *ids] if body["add_special_tokens"] else ids, "count": len(ids)}

    def _completions(self, body: Any) -> Any:
        choices = []
        for index, ids in enumerate(body["prompt"]):
            values = self.server.lm._forward([tuple(ids)])[0].tolist()
            choice: dict[str, Any] = {"index": index, "text": "x", "finish_reason": "length", "logprobs": None}
            if self.server.value is not ...:
                values = [self.server.value] * len(values)
            if self.server.style == "vllm":
                entries = [{str(t): {"logprob": v, "rank": 1}} for t, v in zip(ids[1:], values, strict=True)]
                choice["prompt_logprobs"] = [None, *entries]
            elif self.server.style == "echo":
                choice["logprobs"] = {"token_logprobs": [None, *values, -1.0], "tokens": []}
            elif self.server.style == "short":
                choice["prompt_logprobs"] = [None]
            choices.append(choice)
        return {"id": "1", "object": "text_completion", "created": 1, "model": body["model"], "choices": choices[::-1]}

    def _reply(self, status: int, answer: Any) -> None:
        data = json.dumps(answer).encode() if self.server.raw is None else self.server.raw
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture(scope="session")
def smollm() -> OpenVinoLM:
    loaded = load_lm("smollm2-135m:f32")
    assert isinstance(loaded, OpenVinoLM)
    return loaded


@pytest.mark.model
@pytest.mark.parametrize("style", ["vllm", "echo"])
def test_log_probabilities_over_http_are_those_of_the_model(server: Server, smollm: OpenVinoLM, style: str) -> None:
    server.style, server.lm = style, smollm
    remote = load_lm(f"openai:some/model@{server.url}", api_key=KEY)
    texts, contexts = [EN, EN, ZH], [None, ZH, EN]
    for ours, theirs in zip(
        remote.token_logprobs(texts, contexts), smollm.token_logprobs(texts, contexts), strict=True
    ):
        assert np.allclose(ours, theirs, atol=1e-5)
    assert remote.token_cost(texts, contexts) == smollm.token_cost(texts, contexts)


@pytest.mark.model
def test_a_whole_score_over_http_is_the_local_one(server: Server, smollm: OpenVinoLM) -> None:
    server.lm = smollm
    document = qchunker.from_text(f"{EN}\n\n{ZH}\n\nThe seal is made of graphite. It lasts for two years.")
    spans = [(0, 47), (48, 65), (67, len(document.text))]
    config = ScoringConfig(draws=0)
    remote = Models(load_embedder(f"openai:e@{server.url}"), load_lm(f"openai:m@{server.url}", api_key=KEY))
    local = Models(HashingEmbedder(), smollm)
    there, here = (qchunker.score(document, spans, models, config) for models in (remote, local))
    assert there.li == pytest.approx(here.li, abs=1e-6)
    assert there.sd == pytest.approx(here.sd, abs=1e-6)
    assert KEY not in there.signature
    assert f"m@127.0.0.1:{server.server_address[1]}" in there.signature


def test_embeddings_over_http_come_in_order_and_with_length_one(server: Server) -> None:
    remote = load_embedder(f"openai:e@{server.url}", api_key=KEY)
    texts = [EN, ZH, "short", EN * 200, *[f"text {i}" for i in range(50)]]
    assert np.allclose(remote.encode(texts), HashingEmbedder().encode(texts), atol=1e-6)
    assert len(remote.encode([])) == 0


def test_a_busy_server_is_asked_again(server: Server) -> None:
    server.failures = [429, 503]
    assert load_embedder(f"openai:e@{server.url}").encode([EN]).shape == (1, 64)
    assert len(server.requests) == 3


@pytest.mark.parametrize(("status", "kind"), [(429, errors.ModelUnavailableError), (500, errors.ModelUnavailableError),
                                              (401, errors.ModelError), (404, errors.ModelError)])  # fmt: skip
def test_a_server_that_goes_on_failing_is_an_error_of_ours(
    server: Server, status: int, kind: type[errors.ModelError]
) -> None:
    server.failures = [status] * 10
    with pytest.raises(kind) as caught:
        load_embedder(f"openai:e@{server.url}", api_key=KEY).encode([EN])
    assert KEY not in str(caught.value)
    assert caught.value.hint or status == 404
    assert caught.value.retryable == (kind is errors.ModelUnavailableError)


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(errors.ModelUnavailableError, match="does not answer"):
        load_embedder("openai:e@http://127.0.0.1:9/v1").encode([EN])


@pytest.mark.parametrize("style", ["none", "short"])
def test_a_server_without_prompt_log_probabilities_is_named(server: Server, style: str) -> None:
    server.style, server.lm = style, FakeTokens()
    with pytest.raises(errors.ModelOutputError, match="log-probabilities"):
        load_lm(f"openai:m@{server.url}").token_logprobs([EN], [None])


class FakeTokens:
    """Ids and numbers of the shipped fake model, in the form of a real one."""

    _neutral = 0

    def _ids(self, texts: list[str]) -> list[tuple[int, ...]]:
        return [tuple(range(1, 1 + len(text.split()))) for text in texts]

    def _forward(self, sequences: list[tuple[int, ...]]) -> list[Any]:
        return [np.full(len(ids) - 1, -1.5) for ids in sequences]


VECTORS = {"data": [{"index": 0, "embedding": [1.0, 2.0]}]}
BAD_VECTORS = [
    None, [], "x", {}, {"data": None}, {"data": "x"}, {"data": [None]}, {"data": []}, {"data": [{}]},
    {"data": [{"index": 1, "embedding": [1.0]}]}, {"data": [{"index": -1, "embedding": [1.0]}]},
    {"data": [{"index": True, "embedding": [True]}]}, {"data": [{"index": 0, "embedding": "AAAA"}]},
    {"data": [{"index": 0, "embedding": [float("nan")]}]}, {"data": [{"index": 0, "embedding": [10**400]}]},
    {"data": [{"index": 0, "embedding": ["1.0"]}]}, {"data": [{"index": 0, "embedding": []}]},
    {"data": [{"index": 0, "embedding": {"a": 1}}]},
]  # fmt: skip


@pytest.mark.parametrize("answer", BAD_VECTORS, ids=str)
def test_whatever_answers_instead_of_vectors_is_an_error_of_ours(server: Server, answer: Any) -> None:
    server.answer = answer
    with pytest.raises(errors.ModelOutputError):
        load_embedder(f"openai:e@{server.url}").encode([EN])


@pytest.mark.parametrize("body", [b"", b"<html>no</html>", b"\xff\xfe", b"{", b"[" * 100_000], ids=str)
def test_whatever_is_no_json_is_an_error_of_ours(server: Server, body: bytes) -> None:
    server.raw = body
    with pytest.raises(errors.ModelError):
        load_embedder(f"openai:e@{server.url}").encode([EN])
    with pytest.raises(errors.ModelError):
        load_lm(f"openai:e@{server.url}").token_logprobs([EN], [None])


@pytest.mark.parametrize("value", [1.0, True, "-1.5", None, float("nan"), float("-inf"), {}])
def test_impossible_log_probabilities_are_refused(server: Server, value: Any) -> None:
    server.style, server.lm, server.value = "vllm", FakeTokens(), value
    with pytest.raises(errors.ModelOutputError, match="log-probabilities"):
        load_lm(f"openai:m@{server.url}").token_logprobs([EN], [None])


@pytest.mark.parametrize("tokens", [[-97], [1 << 31], [10**30], [True], ["1"], [], None])
def test_impossible_token_ids_are_refused(server: Server, tokens: Any) -> None:
    server.answer = {"tokens": tokens}
    with pytest.raises(errors.ModelOutputError, match="tokenize"):
        load_lm(f"openai:m@{server.url}").token_logprobs([EN], [None])


@pytest.mark.parametrize("status", [400, 404, 429, 500])
def test_a_server_that_repeats_the_key_does_not_make_us_repeat_it(server: Server, status: int) -> None:
    server.failures, server.message = [status] * 10, f"you sent Bearer {KEY} to user:hidden"
    url = server.url.replace("//", "//user:hidden@")
    with pytest.raises(errors.ModelError) as caught:
        load_embedder(f"openai:e@{url}", api_key=KEY).encode([EN])
    assert KEY not in str(caught.value)
    assert "hidden" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_two_servers_on_one_host_have_two_ids() -> None:
    ids = {load_embedder(f"openai:e@http://h:80/{path}").id for path in ("a/v1", "b/v1", "v1", "")}
    assert ids == {"e@h:80/a", "e@h:80/b", "e@h:80"}


@pytest.mark.parametrize("name", [
    "openai:m@http:/user:hidden@h/v1", "openia:m@http://user:hidden@h/v1", "model2vec:http://user:hidden@h/x",
    "openai:m@http://user:hidden#x@127.0.0.1:1/v1", "openai:m@http://user:hidden@h:99999/v1",
    "openai:m@http://user:hidden@h:abc/v1", "openai:m@http://user:hidden@[::1/v1",
    f"openai:m@http://user:hidden@{'h' * 300}/v1",
])  # fmt: skip
def test_bad_addresses_are_errors_without_the_password(name: str) -> None:
    for load in (load_embedder, load_lm):
        with pytest.raises(errors.QChunkerError) as caught:
            load(name)
        assert "hidden" not in str(caught.value)


def test_a_host_whose_name_begins_with_http_is_a_host() -> None:
    assert load_embedder("openai:m@http://user:hidden@httpbin.test/v1").id == "m@httpbin.test"


def test_addresses_in_ids_hold_no_password() -> None:
    model = load_embedder("openai:e@http://user:secret@127.0.0.1:9/v1?key=secret", api_key=KEY)
    assert model.id == "e@127.0.0.1:9"


def test_the_fake_models_are_models() -> None:
    document = qchunker.from_text(f"{EN} {ZH}")
    result = qchunker.score(document, [(0, 47), (48, 65), (66, 82)], Models(HashingEmbedder(), UnigramLM()))
    assert result.reason is None
    assert result.signature.endswith("lm=unigram")
