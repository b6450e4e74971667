"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const DATA = JSON.parse($("data").textContent);
  const DOCUMENTS = DATA.documents;
  const BATCH = 25, MAX_CHOICES = 12, MAX_MATCHES = 20000, MAX_HIGHLIGHTS = 1000, BINS = 18;
  const NATURAL_CUTS = new Set(["start", "heading", "block"]);
  const FLAGS = {
    lost: "in no chunk", oversize: "oversize", differs: "text differs", overlap: "overlap", short: "short",
    invisible: "hidden characters", linked: "linked", completed: "completed",
  };
  const WARNINGS = {
    differs: "The text stored with this chunk is not the text of its span.",
    overlap: "Another chunk holds a part of this text too.",
    short: "Shorter than a quarter of the median of this document.",
    invisible: "Holds control or direction characters that cannot be seen.",
  };
  const LINKS = { limits: "limits", limited_by: "is limited by" };

  const number = (n) => n.toLocaleString("en", { maximumFractionDigits: 0 });
  const count = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;
  const codePoints = (text) => [...text].length;

  /** The only way elements are made: strings become text, never markup. */
  function el(tag, attributes, ...children) {
    const svg = ["svg", "g", "rect", "line", "text", "title"].includes(tag) ? "http://www.w3.org/2000/svg" : null;
    const node = svg ? document.createElementNS(svg, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (name === "click") node.addEventListener("click", value);
      else if (value != null && value !== "") node.setAttribute(name, value);
    }
    node.append(...children.flat().filter((child) => child != null && child !== ""));
    return node;
  }
  const button = (attributes, ...children) => el("button", { type: "button", ...attributes }, ...children);

  // ---- data ----

  const places = new Map();
  DOCUMENTS.forEach((doc, d) => {
    doc.pieces ??= []; doc.sections ??= []; doc.chunks ??= [];
    doc.chunks.forEach((chunk, c) => {
      chunk.number = c + 1;
      chunk.flags ??= [];
      chunk.size = chunk.span[1] - chunk.span[0];
      if (!places.has(chunk.id)) places.set(chunk.id, { d, chunk });
    });
    doc.sections.forEach((section, s) => {
      section.chunk = doc.chunks[section.c];
      section.end = doc.sections[s + 1]?.p ?? doc.pieces.length;
      if (section.chunk && !section.continues) section.chunk.section = s;
    });
    doc.lost = doc.sections.filter((section) => !section.chunk).length;
  });

  function textOf(doc, from, to) {
    let text = "";
    for (let p = from; p < to; p++) text += doc.pieces[p].t;
    return text;
  }
  const bodyOf = (doc, chunk) => textOf(doc, chunk.p[0], chunk.p[1]);
  const pathOf = (chunk) => (chunk.path ?? []).join(" › ");
  const reasonOf = (chunk) => DATA.reasons[chunk.cut ?? ""] ?? chunk.cut;
  const markOf = ({ cut }) => DATA.forced.includes(cut) ? "forced" : NATURAL_CUTS.has(cut) ? "natural" : "limit";

  // ---- filters ----

  const filters = { flag: new Set(), kind: new Set(), cut: new Set(), size: null };
  const valuesOf = { flag: (chunk) => chunk.flags, kind: (chunk) => [chunk.kind ?? ""], cut: (chunk) => [chunk.cut ?? ""] };
  const groups = Object.keys(valuesOf);
  const isFiltered = () => filters.size !== null || groups.some((group) => filters[group].size);
  const inSize = (chunk) => !filters.size || (chunk.size >= filters.size[0] && chunk.size < filters.size[1]);

  function passes({ chunk }) {
    if (!chunk) return !isFiltered() || filters.flag.has("lost");
    const chosen = (group) => valuesOf[group](chunk).some((value) => filters[group].has(value));
    return inSize(chunk) && groups.every((group) => !filters[group].size || chosen(group));
  }
  const shownIn = (doc) => doc.sections.filter((section) => !section.continues && passes(section)).length;

  function renderFilters() {
    const titles = { flag: "Look at", kind: "Kind", cut: "Starts at" };
    const nameOf = (group, value) => group === "flag" ? FLAGS[value] : value || "not recorded";
    $("filters").replaceChildren(...groups.map((group) => {
      const counts = new Map();
      for (const doc of DOCUMENTS) {
        if (group === "flag" && doc.lost) counts.set("lost", (counts.get("lost") ?? 0) + doc.lost);
        for (const chunk of doc.chunks) {
          for (const value of valuesOf[group](chunk)) counts.set(value, (counts.get(value) ?? 0) + 1);
        }
      }
      const choices = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MAX_CHOICES).map(([value, n]) => {
        const click = () => applyFilters(filters[group].delete(value) || filters[group].add(value));
        const title = group === "cut" ? DATA.reasons[value] : null;
        return button({ click, title, "data-group": group, "data-value": value },
          el("span", { class: value === "lost" ? "alarm" : "" }, nameOf(group, value)), " ", el("small", null, number(n)));
      });
      const legend = el("legend", null, titles[group]);
      return choices.length ? el("fieldset", null, legend, el("div", { class: "choices" }, choices)) : "";
    }));
  }

  function applyFilters() {
    for (const choice of $("filters").querySelectorAll("button")) {
      const { group, value = "" } = choice.dataset;
      choice.setAttribute("aria-pressed", filters[group].has(value));
    }
    hideFiltered();
    $("clear").hidden = !isFiltered();
    renderDocuments();
    renderHistogram();
    search();
  }

  function hideFiltered() {
    const doc = DOCUMENTS[open];
    nodes.sections.forEach((node, s) => { node.hidden = !passes(doc.sections[s]); });
    for (const batch of $("text").children) batch.hidden = [...batch.children].every((node) => node.hidden);
    const all = doc.sections.filter((section) => !section.continues).length;
    $("shown").textContent = isFiltered() ? `${number(shownIn(doc))} of ${number(all)} shown` : "";
  }

  function clearFilters() {
    for (const group of groups) filters[group].clear();
    filters.size = null;
    applyFilters();
  }

  // ---- sizes ----

  let wholeCorpus = false;

  function renderHistogram() {
    const scope = wholeCorpus ? DOCUMENTS : [DOCUMENTS[open]];
    const sizes = scope.flatMap((doc) => doc.chunks.map((chunk) => chunk.size)).sort((a, b) => a - b);
    $("scope").setAttribute("aria-pressed", wholeCorpus);
    $("scope").hidden = DOCUMENTS.length < 2;
    if (!sizes.length) return void [$("histogram"), $("sizes")].forEach((node) => node.replaceChildren("no chunks"));
    const half = (sizes.length - 1) / 2;
    const median = (sizes[Math.floor(half)] + sizes[Math.ceil(half)]) / 2;
    const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
    // A few giants must not press all other bars into one: the last bar is open upwards.
    const step = niceStep(Math.min(sizes.at(-1), 4 * median) / BINS);
    const n = Math.min(BINS + 1, Math.floor(sizes.at(-1) / step) + 1);
    const bins = new Array(n).fill(0);
    for (const size of sizes) bins[Math.min(n - 1, Math.floor(size / step))]++;
    const most = Math.max(...bins), width = 240 / n, height = 72;
    const bars = bins.map((chunks, b) => {
      const range = [b * step, b === n - 1 ? Infinity : (b + 1) * step];
      const label = `${number(range[0])}${b === n - 1 ? " or more" : ` to ${number(range[1] - 1)}`} characters: ${count(chunks, "chunk")}`;
      const toggle = () => {
        filters.size = filters.size?.[0] === range[0] && filters.size[1] === range[1] ? null : range;
        applyFilters();
        $("histogram").querySelectorAll("g")[b]?.focus();
      };
      const tall = chunks ? Math.max(2, (height * chunks) / most) : 0;
      const bar = el("g", { role: "button", tabindex: 0, "aria-label": label, click: toggle,
        "aria-pressed": filters.size?.[0] === range[0] && filters.size[1] === range[1] },
      el("title", null, label), el("rect", { class: "hit", x: b * width, y: 0, width, height }),
      el("rect", { class: "column", x: b * width + 1, y: height - tall, width: Math.max(1, width - 2), height: tall, rx: 1 }));
      bar.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); }
      });
      return bar;
    });
    const label = (x, anchor, value) => el("text", { x, y: height + 13, "text-anchor": anchor }, number(value));
    $("histogram").replaceChildren(el("svg", { viewBox: "0 -2 240 90", role: "group", "aria-label": "Chunks by size" },
      el("line", { x1: 0, x2: 240, y1: height + 0.5, y2: height + 0.5 }), bars,
      label(0, "start", 0), label(width * Math.floor(n / 2), "middle", step * Math.floor(n / 2)), label(240, "end", step * n)));
    const facts = { min: sizes[0], median, mean, max: sizes.at(-1) };
    $("sizes").replaceChildren(...Object.entries(facts).map(([name, value]) =>
      el("div", null, el("dt", null, name), el("dd", null, number(value)))));
  }

  function niceStep(raw) {
    const power = 10 ** Math.floor(Math.log10(Math.max(1, raw)));
    return power * [1, 2, 5, 10].find((factor) => factor * power >= raw);
  }

  // ---- documents and their text ----

  let open = 0, selected = -1;
  const nodes = { sections: [], pieces: [] };

  function renderDocuments() {
    $("documents").replaceChildren(...DOCUMENTS.map((doc, d) => {
      const shown = isFiltered() ? shownIn(doc) : doc.chunks.length;
      if (isFiltered() && !shown && d !== open) return "";
      const go = () => { openDocument(d); toggleSide(false); };
      return el("li", null, button({ click: go, "aria-current": d === open ? "true" : null }, doc.source,
        el("small", null, isFiltered() ? `${number(shown)} shown, ` : "", `${count(doc.chunks.length, "chunk")}, `,
          count(doc.length, "character"), doc.lost ? el("span", { class: "alarm" }, " · lost text") : "")));
    }));
  }

  function openDocument(d, s = null) {
    open = d;
    selected = -1;
    const doc = DOCUMENTS[d];
    nodes.pieces = [];
    nodes.sections = doc.sections.map((section, index) => sectionNode(doc, section, index));
    const batches = [];
    for (let from = 0; from < nodes.sections.length; from += BATCH) {
      const until = Math.min(from + BATCH, nodes.sections.length);
      const batch = el("div", { class: "batch" }, nodes.sections.slice(from, until));
      const letters = textOf(doc, doc.sections[from].p, doc.sections[until - 1].end).length;
      batch.style.containIntrinsicSize = `auto none auto ${Math.round(letters / 2.6 + 90 * (until - from))}px`;
      batches.push(batch);
    }
    $("text").replaceChildren(...batches);
    $("document-title").textContent = doc.source;
    $("document-facts").replaceChildren(`${count(doc.chunks.length, "chunk")}, ${count(doc.length, "character")}`,
      doc.lost ? el("span", { class: "alarm" }, `, ${count(doc.lost, "stretch").replace("stretchs", "stretches")} of lost text`) : "");
    document.title = `${doc.source} · chunks`;
    hideFiltered();
    renderDocuments();
    renderHistogram();
    if (s === null) window.scrollTo(0, 0);
    select(s ?? doc.sections.findIndex((section) => !section.continues && passes(section)), { scroll: s !== null });
    paintMatches();
  }

  function sectionNode(doc, section, s) {
    const { chunk, continues } = section;
    const text = el("div", { class: "text", lang: doc.lang });
    for (let p = section.p; p < section.end; p++) {
      const piece = doc.pieces[p];
      const node = document.createTextNode(piece.t);
      nodes.pieces[p] = node;
      const gap = piece.gap && chunk ? "gap" : "";
      const title = piece.shared ? `also in chunk ${piece.shared.map((c) => c + 1).join(", ")}` : null;
      text.append(gap || title || piece.style
        ? el("span", { class: [piece.style, gap, title && "shared"].filter(Boolean).join(" "), title }, node) : node);
    }
    const mark = chunk ? markOf(chunk) : "lost";
    const why = continues ? `chunk ${chunk.number} continues` : chunk ? reasonOf(chunk) : "No chunk holds this text";
    const size = chunk?.size ?? codePoints(textOf(doc, section.p, section.end));
    const warnings = continues || !chunk ? [] : chunk.flags.filter((flag) => flag in WARNINGS || flag === "oversize");
    const meta = continues ? [] : [[`${number(size)} chars`, chunk?.page && `page ${chunk.page}`, chunk?.kind].filter(Boolean).join(" · ")];
    const bar = button({ class: "bar", tabindex: -1, click: () => select(s, { reveal: true }) },
      el("span", { class: "number" }, chunk ? String(chunk.number) : "–"),
      el("span", { class: "why" }, el("i", { class: `mark ${mark}` }), why),
      el("span", { class: "meta" }, meta, warnings.map((flag) => el("span", { class: "flag" }, FLAGS[flag]))),
      chunk?.path && !continues ? el("span", { class: "path" }, pathOf(chunk)) : "");
    const insets = continues || !chunk ? [] : [
      ...(chunk.lead ? [["Lead-in, repeated from before", chunk.lead]] : []),
      ...(chunk.context ?? []).map((header) => ["Repeated header", header]),
    ].map(([title, quote]) => el("div", { class: "inset" }, el("b", null, title), el("div", { class: "quote", lang: doc.lang }, quote)));
    const ties = continues || !chunk?.links ? "" : el("div", { class: "ties" }, chunk.links.map((link) => tie(link)));
    const classes = ["chunk", mark, chunk?.number % 2 ? "" : "even"];
    return el("section", { class: classes.filter(Boolean).join(" ") }, el("h3", null, bar), insets, text, ties);
  }

  function tie(link) {
    const place = places.get(link.target);
    const verb = LINKS[link.kind] ?? link.kind ?? "linked to";
    if (!place) return el("span", { class: "tie" }, `${verb} ${link.target} (not on this page)`);
    const where = place.chunk.path?.at(-1);
    return button({ class: "tie", click: () => jump(place.d, place.chunk.section) },
      `${verb} chunk ${place.chunk.number}${where ? `: ${where}` : ""}`);
  }

  function jump(d, s) {
    if (!passes(DOCUMENTS[d].sections[s])) clearFilters();
    if (d !== open) openDocument(d, s);
    select(s, { scroll: true, focus: true });
  }

  function select(s, { scroll = false, focus = false, reveal = false } = {}) {
    const doc = DOCUMENTS[open];
    const first = doc.sections[s]?.continues ? doc.sections[s].chunk.section : s;
    nodes.sections[selected]?.classList.remove("selected");
    const bars = () => nodes.sections[selected]?.querySelector(".bar");
    bars()?.removeAttribute("aria-current");
    bars()?.setAttribute("tabindex", -1);
    selected = first;
    const node = nodes.sections[first];
    renderDetail(doc, doc.sections[first]);
    if (reveal) $("detail").classList.add("open");
    if (!node) return;
    node.classList.add("selected");
    bars().setAttribute("aria-current", "true");
    bars().setAttribute("tabindex", 0);
    if (focus) bars().focus({ preventScroll: true });
    if (scroll) bringIntoView(bars());
    const id = doc.sections[first].chunk?.id;
    // A page inside another one may not touch its address; the address is a convenience only.
    try { history.replaceState(null, "", id ? `#${encodeURIComponent(id)}` : "#"); } catch { /* stays as it is */ }
  }

  function bringIntoView(node, tries = 3) {
    const place = node.getBoundingClientRect();
    const top = document.querySelector(".top").offsetHeight;
    if (place.top < top || place.bottom > window.innerHeight * 0.7) node.scrollIntoView({ block: "start" });
    // Text that was off screen gets its true height only now, which may move the target once more.
    if (tries) requestAnimationFrame(() => bringIntoView(node, tries - 1));
  }

  function move(step) {
    const { sections } = DOCUMENTS[open];
    for (let s = selected + step; s >= 0 && s < sections.length; s += step) {
      if (!sections[s].continues && passes(sections[s])) return select(s, { scroll: true, focus: true });
    }
  }

  function moveDocument(step) {
    for (let d = open + step; d >= 0 && d < DOCUMENTS.length; d += step) {
      if (!isFiltered() || shownIn(DOCUMENTS[d])) return openDocument(d);
    }
  }

  // ---- details of one chunk ----

  function renderDetail(doc, section) {
    const chunk = section?.chunk;
    const close = button({ class: "close", "aria-label": "Close details", click: closeDetail }, "Close");
    if (!chunk) {
      const size = section ? count(codePoints(textOf(doc, section.p, section.end)), "character") : "";
      const title = section ? "Text in no chunk" : "No chunk selected";
      const note = section ? el("p", { class: "warning lost" }, `${size} of this document cannot be found by any search.`) : "";
      return $("detail").replaceChildren(el("div", { class: "row" }, el("h2", null, title), close), note);
    }
    const copy = button({ id: "copy", click: (event) => copyText(chunk.id, event.currentTarget) }, "Copy id");
    const warnings = chunk.flags.filter((flag) => WARNINGS[flag]).map((flag) => WARNINGS[flag]);
    if (chunk.oversize) warnings.unshift(`Oversize: ${chunk.oversize}`);
    const facts = { kind: chunk.kind, size: count(chunk.size, "character"), span: chunk.span.map(number).join(" to "),
      page: chunk.page, headings: pathOf(chunk), cut: chunk.cut, id: chunk.id, method: chunk.method,
      signature: chunk.signature, ...chunk.more };
    const box = (...content) => el("div", { class: "box", lang: doc.lang, tabindex: 0 }, ...content);
    const part = (title, note, ...content) => [el("h3", null, title, note && el("small", null, ` ${note}`)), ...content];
    const around = (parts) => parts.length === 1 ? box(parts[0])
      : box(parts[0] && el("mark", null, parts[0]), bodyOf(doc, chunk), parts[1] && el("mark", null, parts[1]));
    const length = (parts) => codePoints(parts.join("")) + (parts.length > 1 ? chunk.size : 0);
    const quotes = (item) => item.evidence.map((quote) => el("blockquote", { lang: doc.lang }, quote));
    const list = (items, show) => el("ul", null, items.map((item) => el("li", null, show(item), quotes(item))));
    $("detail").replaceChildren(
      el("div", { class: "row" }, el("h2", null, `Chunk ${chunk.number}`), el("div", { class: "actions" }, copy, close)),
      el("p", { class: "reason" }, el("i", { class: `mark ${markOf(chunk)}` }), reasonOf(chunk)),
      ...warnings.map((warning) => el("p", { class: "warning" }, warning)),
      el("dl", { class: "facts" }, Object.entries(facts).flatMap(([name, value]) =>
        value == null || value === "" ? [] : [el("dt", null, name), el("dd", null, value)])),
      ...[
        chunk.links && part("Links", "", list(chunk.links, tie)),
        chunk.embedding ? part("Embedded text", count(length(chunk.embedding), "character"), around(chunk.embedding))
          : part("Embedded text", "", el("p", { class: "note" }, "Not recorded in this row.")),
        chunk.lead && part("Lead-in", "from the text before", box(chunk.lead)),
        chunk.context && part("Repeated header", "", ...chunk.context.map((header) => box(header))),
        chunk.question && part("Question", "", el("p", null, chunk.question)),
        chunk.completed && part("Completed text", count(length(chunk.completed), "character"), around(chunk.completed)),
        chunk.added && part("Added", "with the words it rests on", list(chunk.added, ({ kind, text }) => `${kind ?? ""} ${text ?? ""}`)),
        chunk.differs && part("Stored text", "differs from the span", box(chunk.differs)),
      ].filter(Boolean).flat());
    $("detail").scrollTop = 0;
  }

  const closeDetail = () => $("detail").classList.remove("open");

  async function copyText(text, trigger) {
    try {
      await navigator.clipboard.writeText(text);
      trigger.textContent = "Copied";
    } catch {
      trigger.textContent = "Copying is blocked";
    }
    setTimeout(() => { trigger.textContent = "Copy id"; }, 1500);
  }

  // ---- search ----

  let matches = [], at = -1, searched = "", timer = 0;

  function search() {
    clearTimeout(timer);
    searched = $("query").value.trim();
    matches = [];
    at = -1;
    const source = searched.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replace(/\s+/g, "\\s+");
    if (searched) DOCUMENTS.forEach((doc, d) => searchDocument(doc, d, source));
    $("found").textContent = !searched ? "" : matches.length ? `${number(matches.length)} found` : "none";
    for (const id of ["previous-match", "next-match"]) $(id).disabled = !matches.length;
    paintMatches();
  }

  function searchDocument(doc, d, source) {
    doc.full ??= textOf(doc, 0, doc.pieces.length);
    const inPath = new RegExp(source, "iu");
    const found = doc.sections.flatMap((section, s) =>
      section.chunk && !section.continues && inPath.test(pathOf(section.chunk)) && passes(section) ? [{ d, s, p: -1 }] : []);
    let s = 0, p = 0, start = 0;
    for (const match of doc.full.matchAll(new RegExp(source, "giu"))) {
      while (start + doc.pieces[p].t.length <= match.index) start += doc.pieces[p++].t.length;
      while (doc.sections[s].end <= p) s++;
      if (matches.length + found.length >= MAX_MATCHES) break;
      if (passes(doc.sections[s])) found.push({ d, s, p, offset: match.index - start, length: match[0].length });
    }
    matches.push(...found.sort((a, b) => a.s - b.s || a.p - b.p || a.offset - b.offset));
  }

  function rangeOf({ p, offset, length }) {
    const range = new Range();
    range.setStart(nodes.pieces[p], offset);
    for (length += offset; length > nodes.pieces[p].length && nodes.pieces[p + 1]; p++) length -= nodes.pieces[p].length;
    range.setEnd(nodes.pieces[p], Math.min(length, nodes.pieces[p].length));
    return range;
  }

  function paintMatches() {
    if (!CSS.highlights) return;
    const from = Math.max(0, at - MAX_HIGHLIGHTS / 2);
    const here = matches.slice(from, from + MAX_HIGHLIGHTS).filter((match) => match.d === open && match.p >= 0);
    CSS.highlights.set("found", new Highlight(...here.map(rangeOf)));
    const now = matches[at];
    CSS.highlights.set("found-now", new Highlight(...(now?.d === open && now.p >= 0 ? [rangeOf(now)] : [])));
  }

  function stepMatch(step) {
    if ($("query").value.trim() !== searched) search();
    if (!matches.length) return;
    at = at < 0 && step < 0 ? matches.length - 1 : (at + step + matches.length) % matches.length;
    const match = matches[at];
    if (match.d !== open) openDocument(match.d, match.s);
    select(match.s, { scroll: match.p < 0 });
    paintMatches();
    $("found").textContent = `${number(at + 1)} of ${number(matches.length)}${matches.length >= MAX_MATCHES ? " or more" : ""}`;
    if (match.p >= 0) bringIntoView(rangeOf(match));
  }

  // ---- page ----

  const root = document.documentElement;
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (preferred.matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { $("theme").textContent = isDark() ? "Light" : "Dark"; };

  function toggleSide(shown = !$("side").classList.contains("open")) {
    $("side").classList.toggle("open", shown);
    $("side-toggle").setAttribute("aria-expanded", shown);
  }

  function escape() {
    if (document.activeElement === $("query")) return $("query").blur();
    if ($("side").classList.contains("open")) return toggleSide(false);
    if ($("detail").classList.contains("open")) return closeDetail();
    clearFilters();
  }

  const KEYS = {
    j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1),
    n: () => moveDocument(1), p: () => moveDocument(-1), Escape: escape,
    "/": () => { $("query").focus(); $("query").select(); }, "?": () => $("help").showModal(),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("help").open) return;
    const typing = event.target === $("query");
    if (typing && event.key === "Enter") {
      event.preventDefault();
      return stepMatch(event.shiftKey ? -1 : 1);
    }
    // Arrows go on scrolling the boxes and lists that have them.
    const scrolls = event.key.startsWith("Arrow") && event.target.closest(".box, .side, .detail");
    if (!KEYS[event.key] || scrolls || (typing && event.key !== "Escape")) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  $("search").addEventListener("submit", (event) => event.preventDefault());
  $("query").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 150); });
  $("previous-match").addEventListener("click", () => stepMatch(-1));
  $("next-match").addEventListener("click", () => stepMatch(1));
  $("scope").addEventListener("click", () => { wholeCorpus = !wholeCorpus; renderHistogram(); });
  $("clear").addEventListener("click", clearFilters);
  $("side-toggle").addEventListener("click", () => toggleSide());
  $("help-open").addEventListener("click", () => $("help").showModal());
  $("theme").addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });
  preferred.addEventListener("change", nameTheme);

  nameTheme();
  renderFilters();
  if (DOCUMENTS.length) {
    const place = places.get(decodeURIComponent(location.hash.slice(1)));
    openDocument(place?.d ?? 0, place?.chunk.section ?? null);
    applyFilters();
  } else {
    $("shown").textContent = "There is no document to show.";
  }
})();
