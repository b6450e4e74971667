"""The page in a real browser: it works by keyboard, runs nothing that a document says, and sends nothing."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from qchunker.view.page import render_page

sync_api = pytest.importorskip("playwright.sync_api", reason="browser tests need Playwright: pip install playwright")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None,
        reason="browser tests need Chromium on the PATH, for example: apt-get install chromium",
    ),
]
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = "<img src=x onerror=\"window.ran=1\"></script><script>window.ran=1</script><a href='http://example.org'>"
CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const background = (node) => {
    for (; node; node = node.parentElement) {
      const color = rgba(getComputedStyle(node).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!own || !node.checkVisibility() || node.closest("svg, script, :disabled")) continue;
    const [a, b] = [rgba(getComputedStyle(node).color), background(node)].map(luminance);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${node.tagName}.${node.className} ${ratio.toFixed(2)}`);
  }
  return poor;
}"""
NAMELESS = """() => [...document.querySelectorAll("button, input, [role=button], nav, aside, main, dialog")]
  .filter((node) => !(node.getAttribute("aria-label") || node.textContent.trim() || node.labels?.length
    || node.getAttribute("aria-labelledby"))).map((node) => node.outerHTML)"""

Open = Callable[..., Any]


def rows() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    manual = "# Safety\n\nUnplug the machine first. Then wait. 😀 Lost words here. | a | b |\n" + HOSTILE
    contract = "第一条 定义\n设备是指机床。\n第二条 例外\n第一条不适用于工具。"
    lost, table, hostile = manual.index("Lost"), manual.index("| a"), manual.index(HOSTILE)
    second = contract.index("第二条")
    documents: list[dict[str, Any]] = [
        {
            "doc_id": "m",
            "source": HOSTILE,
            "text": manual,
            "blocks": [
                {"kind": "heading", "start": 0, "end": 8},
                {"kind": "table", "start": table, "end": hostile - 1},
            ],
        },
        {"doc_id": "c", "source": "合同.md", "text": contract},
    ]
    shared = {"doc_id": "m", "kind": "paragraph", "heading_path": ["Safety"]}
    chunks: list[dict[str, Any]] = [
        {**shared, "start": 0, "end": 35, "cut": "start", "embedding_text": "Safety\n" + manual[:35]},
        {**shared, "start": 35, "end": lost, "cut": "sentence", "lead_in": [10, 35]},
        {**shared, "start": table, "end": hostile, "kind": "table", "cut": "row", "context": [[0, 8]]},
        {**shared, "start": hostile, "end": len(manual), "cut": HOSTILE, "oversize": HOSTILE, "x": HOSTILE},
        {"doc_id": "c", "start": 0, "end": second, "chunk_id": "c1", "heading_path": ["第一条 定义"]},
        {"doc_id": "c", "start": second, "end": len(contract), "heading_path": ["第二条 例外"]},
    ]
    chunks[5]["links"] = [{"kind": "limits", "target": "c1", "evidence": [[second + 7, second + 13]]}]
    chunks[4]["links"] = [{"kind": "limited_by", "target": f"c:{second}-{len(contract)}", "evidence": []}]
    return documents, chunks


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a page and afterwards demands that nothing failed, ran or was sent."""
    contexts: list[Any] = []
    faults: list[str] = []
    sent: list[str] = []

    def open_it(
        content: tuple[list[dict[str, Any]], list[dict[str, Any]]] | None = None,
        width: int = 1400,
        **options: Any,
    ) -> Any:
        path = tmp_path / "page.html"
        path.write_text(render_page(*(content or rows())), "utf-8")
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: sent.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_it
    for context in contexts:
        assert all(page.evaluate("window.ran") is None for page in context.pages)
        context.close()
    assert faults == []
    assert set(sent) == {(tmp_path / "page.html").as_uri()}


def selected(page: Any) -> str:
    return str(page.locator(".bar[aria-current]").inner_text())


def test_boundaries_explain_themselves(open_page: Open) -> None:
    page = open_page()
    bars = page.locator(".bar")
    assert bars.count() == 5
    assert "the document starts" in bars.nth(0).inner_text()
    assert "between two sentences" in bars.nth(1).inner_text()
    assert "No chunk holds this text" in bars.nth(2).inner_text()
    assert page.locator(".chunk.lost .text").inner_text().strip() == "Lost words here."
    assert page.locator(".inset").all_inner_texts() == [
        "Lead-in, repeated from before\nUnplug the machine first.",
        "Repeated header\n# Safety",
    ]
    assert page.locator(".text .table").count() == 1


def test_keyboard_walk(open_page: Open) -> None:
    page = open_page()
    for key, expected in [("j", "2"), ("ArrowDown", "–"), ("j", "3"), ("k", "–"), ("ArrowUp", "2")]:
        page.keyboard.press(key)
        assert selected(page).startswith(expected)
        assert page.evaluate("document.activeElement.matches('.bar[aria-current]')")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("n")
    assert page.title() == "合同.md · chunks"
    page.keyboard.press("n")
    page.keyboard.press("p")
    assert page.title() != "合同.md · chunks"
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def test_search_crosses_documents_and_chunks(open_page: Open) -> None:
    page = open_page()
    page.keyboard.press("/")
    page.keyboard.type("THEN  wait. 😀 lost")
    page.keyboard.press("Enter")
    assert page.locator("#found").inner_text() == "1 of 1"
    page.locator("#query").fill("第一条")
    page.keyboard.press("Enter")
    assert page.locator("#found").inner_text() == "1 of 3"
    assert page.title() == "合同.md · chunks"
    page.keyboard.press("Shift+Enter")
    assert page.locator("#found").inner_text() == "3 of 3"
    assert selected(page).startswith("2")
    assert page.evaluate("[...CSS.highlights.get('found-now')].join()") == "第一条"
    page.locator("#query").fill("(.*")
    page.keyboard.press("Enter")
    assert page.locator("#found").inner_text() == "none"


def test_links_jump_also_out_of_a_filter(open_page: Open) -> None:
    page = open_page()
    page.keyboard.press("n")
    page.keyboard.press("j")
    assert "第一条不适用于"[:6] in page.locator("#detail blockquote").inner_text()
    page.locator("#detail .tie").click()
    assert selected(page).startswith("1")
    page.get_by_role("button", name="row", exact=False).first.click()
    assert "0 shown" in page.locator("#shown").inner_text()
    page.locator("#detail .tie").click()
    assert selected(page).startswith("2")


def test_evidence_leads_to_its_chunk(open_page: Open) -> None:
    page = open_page()
    page.keyboard.press("n")
    page.keyboard.press("j")
    page.locator("#detail .place").first.click()
    assert page.locator(".chunk.selected").count() == 1
    page.keyboard.press("k")
    assert selected(page)[:1].isdigit()


def test_filters_and_histogram(open_page: Open) -> None:
    page = open_page()
    page.locator("#filters button", has_text="in no chunk").click()
    assert page.locator(".chunk:visible").count() == 1
    page.locator("#clear").click()
    page.locator("#filters button", has_text="table").click()
    assert page.locator(".chunk:visible").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(".chunk:visible").count() == 5
    last = page.locator("#histogram g").last
    last.focus()
    page.keyboard.press("Enter")
    assert page.locator("#histogram g").last.get_attribute("aria-pressed") == "true"
    assert page.locator(".chunk:visible").count() == 1


def test_details_show_what_is_embedded(open_page: Open) -> None:
    page = open_page()
    box = page.locator("#detail .box").first
    assert box.inner_text().startswith("Safety\n# Safety\n\nUnplug")
    assert box.locator("mark").inner_text().strip() == "Safety"
    page.locator(".bar").last.click()
    assert HOSTILE in page.locator("#detail").inner_text()
    assert page.locator("#detail img, #text img").count() == 0


def test_copying_the_chunk_id(open_page: Open) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.locator("#copy").click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "m:0-35"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 900, 1400])
def test_readable_at_every_width(open_page: Open, scheme: str, width: int) -> None:
    page = open_page(width=width, color_scheme=scheme, reduced_motion="reduce")
    page.locator(".bar").first.click()
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(NAMELESS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("Escape")
    background = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(background)
    page.locator("#theme").click()
    assert page.evaluate(background) != before
    assert page.evaluate(CONTRAST) == []


def test_narrow_pages_open_panels_on_demand(open_page: Open) -> None:
    page = open_page(width=360)
    assert not page.locator("#detail").is_visible()
    page.locator(".bar").nth(1).click()
    assert page.locator("#detail").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#detail").is_visible()
    page.locator("#side-toggle").click()
    page.locator("#documents button").nth(1).click()
    assert page.title() == "合同.md · chunks"
    assert not page.locator("#side").is_visible()


def test_ids_and_labels_are_sound(open_page: Open) -> None:
    page = open_page()
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(ids) == len(set(ids))
    references = page.evaluate(
        "['aria-labelledby', 'aria-controls', 'for'].flatMap((name) =>"
        " [...document.querySelectorAll(`[${name}]`)].map((node) => node.getAttribute(name)))"
    )
    assert set(references) <= set(ids)
    assert page.locator("main, nav, aside").count() == 3
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.locator(".bar[tabindex='0']").count() == 1


def test_ten_thousand_chunks_stay_usable(open_page: Open) -> None:
    text = "All work and no play makes a dull day. " * 13
    document = {"doc_id": "d", "text": text * 10_000}
    chunks = [{"doc_id": "d", "start": i * len(text), "end": (i + 1) * len(text), "cut": "size"} for i in range(10_000)]
    page = open_page(([document], chunks))
    assert page.locator(".chunk").count() == 10_000
    page.keyboard.press("j")
    assert selected(page).startswith("2")
    page.locator("#query").fill("dull day. all")
    page.keyboard.press("Shift+Enter")
    assert re.fullmatch(r"20,000 of 20,000 or more", page.locator("#found").inner_text())
    assert page.locator(".bar[aria-current]").is_visible()


def test_nothing_to_show(open_page: Open) -> None:
    assert "no document" in open_page(([], [])).locator("#shown").inner_text()
    page = open_page(([{"doc_id": "d", "text": ""}], []))
    page.keyboard.press("j")
    assert "No chunk selected" in page.locator("#detail").inner_text()


def scored(gram: list[list[float]]) -> list[dict[str, Any]]:
    numbers = {"li": 0.61, "sd": -0.2, "value": 0.043, "li_corrected": 1.5, "sd_corrected": -0.25, "corrected": 0.75}
    row = {"doc_id": "c", "n_chunks": 2, "boundaries": [0.61], "gram": gram, "corrected_se": 0.3, "signature": HOSTILE}
    return [row | numbers | {"notes": [HOSTILE]}]


def test_scores_stand_at_boundaries_and_as_a_picture(open_page: Open) -> None:
    page = open_page((*rows(), scored([[1.0, 0.4], [0.4, 1.0]])))
    assert page.locator("#score-section").is_hidden()  # the first document has no score
    page.locator("#documents button").nth(1).click()
    assert page.locator("#score-section").is_visible()
    cells = page.locator("table.score td").all_inner_texts()
    assert cells == ["0.610", "+1.50", "-0.200", "-0.25", "0.043", "+0.75"]
    assert "±0.30" in page.locator("#score").inner_text()
    bars = page.locator(".bar")
    assert "LI" not in bars.nth(0).inner_text()
    assert "LI 0.61" in bars.nth(1).inner_text()
    canvas = page.locator("#gram")
    box = canvas.bounding_box()
    canvas.scroll_into_view_if_needed()
    canvas.hover(position={"x": box["width"] * 0.75, "y": box["height"] * 0.25})
    assert page.locator("#gram-told").inner_text() == "Chunks 1 and 2: 0.400"
    canvas.click(position={"x": box["width"] * 0.75, "y": box["height"] * 0.25})
    assert "第二条" in selected(page)


def test_a_document_without_a_score_shows_the_reason(open_page: Open) -> None:
    row = {"doc_id": "c", "n_chunks": 2, "reason": HOSTILE, "signature": "s"}
    page = open_page((*rows(), [row]))
    page.locator("#documents button").nth(1).click()
    assert HOSTILE in page.locator("#score .warning").inner_text()
    assert page.locator("#gram").count() == 0
