(() => {
  const $ = (id) => document.getElementById(id);
  const { documents: DOCUMENTS, reasons: REASONS, forced: FORCED } = JSON.parse($("data").textContent);
  const BATCH = 25, MAX_CHOICES = 12, MAX_MATCHES = 20000, MAX_HIGHLIGHTS = 1000, BINS = 18;
  const NATURAL_CUTS = new Set(["start", "heading", "block"]);
  const { FLAGS, WARNINGS, LINKS } = JSON.parse($("words").textContent);
  const number = new Intl.NumberFormat("en", { maximumFractionDigits: 0 }).format;
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
  const alarm = (text) => el("span", { class: "alarm" }, text);
  const button = (attributes, ...children) => el("button", { type: "button", ...attributes }, ...children);

  // State: indices of the open document, its selected section and the match shown last.
  let open = 0, selected = -1, wholeCorpus = false, matches = [], at = -1, searched = "", timer = 0;
  const nodes = { sections: [], pieces: [] };

  // Data: chunks know their first section, sections their chunk and where their pieces end.
  const places = new Map();
  DOCUMENTS.forEach((doc, d) => {
    doc.chunks.forEach((chunk, c) => {
      Object.assign(chunk, { number: c + 1, flags: chunk.flags ?? [], size: chunk.span[1] - chunk.span[0] });
      if (!places.has(chunk.id)) places.set(chunk.id, { d, chunk });
    });
    doc.sections.forEach((section, s) => {
      section.chunk = doc.chunks[section.c];
      section.end = doc.sections[s + 1]?.p ?? doc.pieces.length;
      section.heads = !section.continues;
      if (section.chunk && section.heads) section.chunk.section = s;
    });
    doc.lost = doc.sections.filter((section) => !section.chunk).length;
  });
  const factsOf = (doc) => `${count(doc.chunks.length, "chunk")}, ${count(doc.length, "character")}`;
  const textOf = (doc, from, to) => doc.pieces.slice(from, to).map((piece) => piece.t).join("");
  const pathOf = (chunk) => (chunk.path ?? []).join(" › ");
  const reasonOf = ({ cut }) => REASONS[cut ?? ""] ?? cut;
  const markOf = ({ cut }) => FORCED.includes(cut) ? "forced" : NATURAL_CUTS.has(cut) ? "natural" : "limit";

  // Filters: any of the values chosen in a group, and all groups.
  const filters = { flag: new Set(), kind: new Set(), cut: new Set(), size: null };
  const valuesOf = { flag: (chunk) => chunk.flags, kind: ({ kind = "" }) => [kind], cut: ({ cut = "" }) => [cut] };
  const groups = Object.keys(valuesOf);
  const isFiltered = () => filters.size !== null || groups.some((group) => filters[group].size);
  const shownIn = (doc) => doc.sections.filter((section) => section.heads && passes(section)).length;

  function passes({ chunk }) {
    if (!chunk) return !isFiltered() || filters.flag.has("lost");
    const chosen = (group) => valuesOf[group](chunk).some((value) => filters[group].has(value));
    const [least, below] = filters.size ?? [0, Infinity];
    return chunk.size >= least && chunk.size < below && groups.every((group) => !filters[group].size || chosen(group));
  }

  function renderFilters() {
    const titles = { flag: "Look at", kind: "Kind", cut: "Starts at" };
    const byWeight = (a, b) => (b[0] === "lost") - (a[0] === "lost") || b[1] - a[1];
    $("filters").replaceChildren(...groups.map((group) => {
      const lost = DOCUMENTS.reduce((sum, doc) => sum + doc.lost, 0);
      const counts = new Map(group === "flag" && lost ? [["lost", lost]] : []);
      for (const chunk of DOCUMENTS.flatMap((doc) => doc.chunks)) {
        for (const value of valuesOf[group](chunk)) counts.set(value, (counts.get(value) ?? 0) + 1);
      }
      const choices = [...counts].sort(byWeight).slice(0, MAX_CHOICES).map(([value, n]) => {
        const click = () => applyFilters(filters[group].delete(value) || filters[group].add(value));
        const name = group === "flag" ? FLAGS[value] : value || "not recorded";
        const title = group === "cut" ? REASONS[value] : "";
        return button({ click, title, "data-group": group, "data-value": value, "aria-pressed": false },
          value === "lost" ? alarm(name) : name, " ", el("small", null, number(n)));
      });
      return el("fieldset", null, el("legend", null, titles[group]), el("div", { class: "choices" }, choices));
    }));
  }

  function applyFilters() {
    $("filters").querySelectorAll("button").forEach((choice) =>
      choice.setAttribute("aria-pressed", filters[choice.dataset.group].has(choice.dataset.value ?? "")));
    renderShown();
    search();
  }

  function renderShown() {
    const doc = DOCUMENTS[open];
    nodes.sections.forEach((node, s) => { node.hidden = !passes(doc.sections[s]); });
    for (const batch of $("text").children) batch.hidden = [...batch.children].every((node) => node.hidden);
    $("shown").textContent = isFiltered() ? `${number(shownIn(doc))} shown, the rest is hidden by a filter` : "";
    $("clear").hidden = !isFiltered();
    renderDocuments();
    renderHistogram();
  }

  function clearFilters() {
    groups.forEach((group) => filters[group].clear());
    applyFilters(filters.size = null);
  }

  // Sizes.
  function renderHistogram() {
    const sizes = (wholeCorpus ? DOCUMENTS : [DOCUMENTS[open]]).flatMap((doc) => doc.chunks.map((chunk) => chunk.size)).sort((a, b) => a - b);
    $("scope").setAttribute("aria-pressed", wholeCorpus);
    const median = (sizes[(sizes.length - 1) >> 1] + sizes[sizes.length >> 1]) / 2;
    const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
    const facts = sizes.length ? { min: sizes[0], median, mean, max: sizes.at(-1) } : {};
    $("sizes").replaceChildren(...Object.keys(facts).map((name) =>
      el("div", null, el("dt", null, name), el("dd", null, number(facts[name])))));
    if (!sizes.length) return $("histogram").replaceChildren("no chunks");
    // A few giants must not press all other bars into one: the last bar is open upwards.
    const raw = Math.min(facts.max, 4 * median) / BINS, power = 10 ** Math.floor(Math.log10(Math.max(1, raw)));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw);
    const n = Math.min(BINS + 1, Math.floor(facts.max / step) + 1);
    const bins = new Array(n).fill(0);
    for (const size of sizes) bins[Math.min(n - 1, Math.floor(size / step))]++;
    const tallest = Math.max(...bins), width = 240 / n, height = 72, middle = Math.floor(n / 2);
    const axis = (x, anchor, value) => el("text", { x, y: height + 13, "text-anchor": anchor }, number(value));
    $("histogram").replaceChildren(el("svg", { viewBox: "0 -2 240 90", role: "group", "aria-label": "Chunks by size" },
      el("line", { x1: 0, x2: 240, y1: height + 0.5, y2: height + 0.5 }),
      bins.map((chunks, b) => column(chunks, b * step, b === n - 1 ? Infinity : (b + 1) * step,
        { x: b * width, width, height }, chunks ? Math.max(2, (height * chunks) / tallest) : 0)),
      axis(0, "start", 0), axis(width * middle, "middle", step * middle), axis(240, "end", step * n)));
  }

  function column(chunks, least, below, { x, width, height }, tall) {
    const range = below === Infinity ? `${number(least)} or more` : `${number(least)} to ${number(below - 1)}`;
    const label = `${range} characters: ${count(chunks, "chunk")}`;
    const pressed = filters.size?.[0] === least && filters.size[1] === below;
    const click = () => {
      filters.size = pressed ? null : [least, below];
      applyFilters();
      $("histogram").querySelector(`[aria-label="${label}"]`)?.focus();
    };
    return el("g", { role: "button", tabindex: 0, "aria-label": label, "aria-pressed": pressed, click },
      el("title", null, label), el("rect", { class: "hit", x, y: 0, width, height }), el("rect",
        { class: "column", x: x + 1, y: height - tall, width: Math.max(1, width - 2), height: tall, rx: 1 }));
  }

  // Documents and their text.
  function renderDocuments() {
    $("documents").replaceChildren(...DOCUMENTS.map((doc, d) => {
      const shown = isFiltered() ? shownIn(doc) : doc.chunks.length;
      if (isFiltered() && !shown && d !== open) return "";
      const click = () => openDocument(d, toggleSide(false));
      const some = isFiltered() ? `${number(shown)} shown, ` : "";
      const small = el("small", null, some, factsOf(doc), doc.lost ? alarm(" · lost text") : "");
      return el("li", null, button({ click, "aria-current": d === open ? "true" : null }, doc.source, small));
    }));
  }

  function openDocument(d, s) {
    const doc = DOCUMENTS[d];
    [open, selected, nodes.pieces] = [d, -1, []];
    nodes.sections = doc.sections.map((section, index) => sectionNode(doc, section, index));
    const batches = [];
    for (let from = 0; from < nodes.sections.length; from += BATCH) {
      const sections = nodes.sections.slice(from, from + BATCH), last = from + sections.length - 1;
      const letters = textOf(doc, doc.sections[from].p, doc.sections[last].end).length;
      batches.push(el("div", { class: "batch" }, sections));
      batches.at(-1).style.containIntrinsicHeight = `auto ${Math.round(letters / 2.6 + 90 * sections.length)}px`;
    }
    $("text").replaceChildren(...batches);
    $("document-title").textContent = doc.source;
    document.title = `${doc.source} · chunks`;
    const lost = doc.lost ? alarm(`, text in no chunk at ${count(doc.lost, "place")}`) : "";
    $("document-facts").replaceChildren(factsOf(doc), lost);
    $("score-section").hidden = !doc.score;
    $("score").replaceChildren(...(doc.score ? scoreNodes(el, doc.score, (c) => jump(d, doc.chunks[c].section)) : []));
    renderShown();
    if (s === undefined) scrollTo(0, 0);
    select(s ?? doc.sections.findIndex((section) => section.heads && passes(section)));
    paintMatches();
  }

  function sectionNode(doc, section, s) {
    const { chunk, heads } = section;
    const text = el("div", { class: "text", lang: doc.lang });
    for (let p = section.p; p < section.end; p++) {
      const piece = doc.pieces[p], gap = piece.gap && chunk;
      const title = piece.shared ? `also in chunk ${piece.shared.map((c) => c + 1).join(", ")}` : "";
      const look = [piece.style, gap && "gap", title && "shared"].filter(Boolean).join(" ");
      nodes.pieces[p] = document.createTextNode(piece.t);
      text.append(look ? el("span", { class: look, title }, nodes.pieces[p]) : nodes.pieces[p]);
    }
    const mark = chunk ? markOf(chunk) : "lost";
    const size = chunk?.size ?? codePoints(textOf(doc, section.p, section.end));
    const why = !chunk ? "No chunk holds this text" : heads ? reasonOf(chunk) : `chunk ${chunk.number} continues`;
    const li = chunk?.li === undefined ? "" : `LI ${chunk.li.toFixed(2)}`;
    const meta = [li, `${number(size)} chars`, chunk?.page && `page ${chunk.page}`, chunk?.kind].filter(Boolean).join(" · ");
    const flags = chunk?.flags.filter((flag) => flag in WARNINGS) ?? [];
    const bar = button({ class: "bar", tabindex: -1, click: () => select(s, { reveal: true }) },
      el("span", { class: "number" }, chunk ? String(chunk.number) : "–"),
      el("span", { class: "why" }, el("i", { class: `mark ${mark}` }), why),
      heads && el("span", { class: "meta" }, meta, flags.map((flag) => el("span", { class: "flag" }, FLAGS[flag]))),
      heads && chunk?.path && el("span", { class: "path" }, pathOf(chunk)));
    const inset = (name, text) => el("div", { class: "inset", lang: doc.lang }, el("b", null, name), el("div", null, text));
    const before = heads && chunk ? [chunk.lead && inset("Lead-in, repeated from before", chunk.lead),
      (chunk.context ?? []).map((header) => inset("Repeated header", header))].flat() : [];
    const ties = heads && chunk?.links ? el("div", { class: "ties" }, chunk.links.map(tie)) : "";
    return el("section", { class: `chunk ${mark} ${chunk?.number % 2 ? "odd" : "even"}` }, el("h3", null, bar), before, text, ties);
  }

  function tie(link) {
    const place = places.get(link.target), where = place?.chunk.path?.at(-1);
    const verb = LINKS[link.kind] ?? link.kind ?? "linked to";
    return place ? button({ class: "tie", click: () => jump(place.d, place.chunk.section) },
      `${verb} chunk ${place.chunk.number}${where ? `: ${where}` : ""}`)
      : el("span", { class: "tie" }, `${verb} ${link.target} (not on this page)`);
  }

  function jump(d, s) {
    if (!passes(DOCUMENTS[d].sections[s])) clearFilters();
    if (d !== open) openDocument(d, s);
    select(s, { scroll: true, focus: true });
  }

  function select(s, { scroll, focus, reveal } = {}) {
    const { sections } = DOCUMENTS[open];
    const barOf = (index) => nodes.sections[index]?.querySelector(".bar");
    nodes.sections[selected]?.classList.remove("selected");
    barOf(selected)?.setAttribute("tabindex", -1);
    barOf(selected)?.removeAttribute("aria-current");
    selected = sections[s]?.continues ? sections[s].chunk.section : s;
    renderDetail(DOCUMENTS[open], sections[selected]);
    const bar = barOf(selected);
    if (!bar) return;
    if (reveal) $("detail").classList.add("open");
    nodes.sections[selected].classList.add("selected");
    bar.setAttribute("tabindex", 0);
    bar.setAttribute("aria-current", "true");
    if (focus) bar.focus({ preventScroll: true });
    if (scroll || (reveal && isNarrow())) bringIntoView(bar);
  }

  const isNarrow = () => matchMedia("(max-width: 52rem)").matches;
  function bringIntoView(target, tries = 3) {
    const place = target.getBoundingClientRect(), top = document.querySelector(".top").offsetHeight;
    if (place.top < top || place.bottom > innerHeight * (isNarrow() ? 0.3 : 0.7)) scrollBy(0, place.top - top - 16);
    // Text that was off screen gets its true height only now, which may move the target once more.
    if (tries) requestAnimationFrame(() => bringIntoView(target, tries - 1));
  }

  function walk(items, index, step, isWanted, go) {
    do index += step; while (items[index] && !isWanted(items[index]));
    if (items[index]) go(index);
  }
  const move = (step) => walk(DOCUMENTS[open].sections, selected, step, (section) => section.heads && passes(section),
    (s) => select(s, { scroll: true, focus: true }));
  const moveDocument = (step) => walk(DOCUMENTS, open, step, (doc) => !isFiltered() || shownIn(doc), openDocument);

  // Details of one chunk.
  function renderDetail(doc, section) {
    const chunk = section?.chunk;
    const close = button({ class: "close", click: closeDetail }, "Close");
    const title = chunk ? `Chunk ${chunk.number}` : section ? "Text in no chunk" : "No chunk selected";
    const copy = chunk && button({ id: "copy", click: () => copyId(chunk.id) }, "Copy id");
    const head = el("div", { class: "row" }, el("h2", null, title), el("div", { class: "actions" }, copy, close));
    const content = chunk ? chunkDetail(doc, chunk) : section ? [warning("No search can find this text.")] : [];
    $("detail").replaceChildren(head, ...content.flat().filter(Boolean));
    $("detail").scrollTop = 0;
  }

  function chunkDetail(doc, chunk) {
    const box = (...content) => el("div", { class: "box", lang: doc.lang, tabindex: 0 }, ...content);
    const part = (title, note, ...content) => [el("h3", null, `${title} `, el("small", null, note)), ...content];
    const place = (c) => button({ class: "place", click: () => jump(open, doc.chunks[c].section) }, `in chunk ${c + 1}`);
    const list = (items, show) => el("ul", null, items.map((item) => el("li", null, show(item),
      item.evidence.map((quote, i) => el("blockquote", { lang: doc.lang }, quote, " ", place(item.places[i]))))));
    const whole = (title, [before, after]) => {
      const body = after === undefined ? "" : textOf(doc, ...chunk.p), size = codePoints(before + body + (after ?? ""));
      const added = (text) => text && el("mark", null, text);
      return part(title, count(size, "character"), body ? box(added(before), body, added(after)) : box(before));
    };
    const facts = { kind: chunk.kind, size: count(chunk.size, "character"), span: chunk.span.map(number).join(" to "),
      independence: chunk.li?.toFixed(3), page: chunk.page, headings: pathOf(chunk), cut: chunk.cut, id: chunk.id, method: chunk.method,
      signature: chunk.signature, ...chunk.more };
    return [
      el("p", { class: "reason" }, el("i", { class: `mark ${markOf(chunk)}` }), reasonOf(chunk)),
      chunk.flags.filter((flag) => flag in WARNINGS).map((flag) => warning(WARNINGS[flag] + (chunk[flag] ?? ""))),
      el("dl", { class: "facts" }, Object.entries(facts).filter(([, value]) => value).map(([name, value]) =>
        [el("dt", null, name), el("dd", null, value)]).flat()),
      chunk.links && part("Links", "", list(chunk.links, tie)),
      chunk.embedding ? whole("Embedded text", chunk.embedding) : part("Embedded text", "not recorded"),
      chunk.lead && part("Lead-in", "from the text before", box(chunk.lead)),
      chunk.context && part("Repeated header", "", ...chunk.context.map((header) => box(header))),
      chunk.question && part("Question", "", el("p", null, chunk.question)),
      chunk.diff ? part("Completed text", "", box(...chunk.diff.map((text, i) => i % 2 ? el("mark", null, text) : text)))
        : chunk.completed && whole("Completed text", chunk.completed),
      chunk.added && part("Added", "with the words it rests on",
        list(chunk.added, ({ kind, text, replaced }) =>
          [kind?.replaceAll("_", " "), replaced ? `${text} (for: ${replaced})` : text].filter(Boolean).join(": "))),
      chunk.refused && part("Refused", "what a model wanted to add",
        list(chunk.refused, ({ kind, text, reason }) =>
          `${[kind?.replaceAll("_", " "), text].filter(Boolean).join(": ")} (${reason ?? "no reason given"})`)),
      chunk.stored && part("Stored text", "differs from the span", box(chunk.stored)),
    ];
  }
  const warning = (text) => el("p", { class: "warning" }, text);
  const closeDetail = () => $("detail").classList.contains("open") && !$("detail").classList.toggle("open");

  async function copyId(id) {
    const trigger = $("copy"), copied = await navigator.clipboard?.writeText(id).then(() => true, () => false);
    trigger.textContent = copied ? "Copied" : "Copying is blocked";
    setTimeout(() => { trigger.textContent = "Copy id"; }, 1500);
  }

  // Search over all documents; a match in a heading path has no piece.
  function search() {
    clearTimeout(timer);
    [searched, matches, at] = [$("query").value.trim(), [], -1];
    const pattern = searched.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replace(/\s+/g, "\\s+");
    if (searched) DOCUMENTS.forEach((doc, d) => searchDocument(doc, d, pattern));
    $("found").textContent = !searched ? "" : matches.length ? `${number(matches.length)} found` : "none";
    for (const id of ["previous-match", "next-match"]) $(id).disabled = !matches.length;
    paintMatches();
  }

  function searchDocument(doc, d, pattern) {
    const inPath = new RegExp(pattern, "iu");
    doc.full ??= textOf(doc, 0, doc.pieces.length);
    const found = doc.sections.flatMap((section, s) => section.heads && section.chunk && passes(section)
      && inPath.test(pathOf(section.chunk)) ? [{ d, s, p: -1 }] : []);
    let s = 0, p = 0, start = 0;
    for (const { index, 0: { length } } of doc.full.matchAll(new RegExp(pattern, "giu"))) {
      if (matches.length + found.length >= MAX_MATCHES) break;
      while (start + doc.pieces[p].t.length <= index) start += doc.pieces[p++].t.length;
      while (doc.sections[s].end <= p) s++;
      if (passes(doc.sections[s])) found.push({ d, s, p, offset: index - start, length });
    }
    matches.push(...found.sort((a, b) => a.s - b.s || a.p - b.p || a.offset - b.offset));
  }

  function rangeOf({ p, offset, length }) {
    const range = new Range();
    range.setStart(nodes.pieces[p], offset);
    for (length += offset; length > nodes.pieces[p].length; p++) length -= nodes.pieces[p].length;
    range.setEnd(nodes.pieces[p], length);
    return range;
  }

  function paintMatches() {
    const ranges = (found) => found.filter((match) => match?.d === open && match.p >= 0).map(rangeOf);
    const from = Math.max(0, at - MAX_HIGHLIGHTS / 2);
    CSS.highlights?.set("found", new Highlight(...ranges(matches.slice(from, from + MAX_HIGHLIGHTS))));
    CSS.highlights?.set("found-now", new Highlight(...ranges([matches[at]])));
  }

  function stepMatch(step) {
    if ($("query").value.trim() !== searched) search();
    if (!matches.length) return;
    at = at < 0 && step < 0 ? matches.length - 1 : (at + step + matches.length) % matches.length;
    const match = matches[at], more = matches.length < MAX_MATCHES ? "" : " or more";
    if (match.d !== open) openDocument(match.d, match.s);
    select(match.s, { scroll: match.p < 0 });
    paintMatches();
    $("found").textContent = `${number(at + 1)} of ${number(matches.length)}${more}`;
    if (match.p >= 0) bringIntoView(rangeOf(match));
  }

  // Theme, side panel, keys.
  const { dataset } = document.documentElement;
  const isDark = () => dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const sideIsOpen = () => $("side-toggle").getAttribute("aria-expanded") === "true";
  const toggleSide = (shown) => $("side-toggle").setAttribute("aria-expanded", shown);

  function escape() {
    if (document.activeElement === $("query")) $("query").blur();
    else if (sideIsOpen()) toggleSide(false);
    else if (!closeDetail()) clearFilters();
  }

  const KEYS = {
    j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1),
    n: () => moveDocument(1), p: () => moveDocument(-1), Escape: escape,
    "/": () => $("query").select(), "?": () => $("help").showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("help").open) return;
    let act = KEYS[key];
    if (target === $("query")) act = { Enter: () => stepMatch(event.shiftKey ? -1 : 1), Escape: escape }[key];
    // Arrows go on scrolling the panels; drawn bars are buttons, but the browser does not know.
    else if (key.startsWith("Arrow") && target.closest(".side, .detail")) return;
    else if (target.closest("g") && [" ", "Enter"].includes(key)) act = () => target.dispatchEvent(new Event("click"));
    if (!act) return;
    event.preventDefault();
    act();
  });
  const CLICKS = {
    "previous-match": () => stepMatch(-1), "next-match": () => stepMatch(1), clear: clearFilters,
    scope: () => { wholeCorpus = !wholeCorpus; renderHistogram(); }, "side-toggle": () => toggleSide(!sideIsOpen()),
    "help-open": KEYS["?"], theme: () => { dataset.theme = isDark() ? "light" : "dark"; },
  };
  for (const [id, click] of Object.entries(CLICKS)) $(id).addEventListener("click", click);
  $("search").addEventListener("submit", (event) => event.preventDefault());
  $("query").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 150); });

  $("scope").hidden = DOCUMENTS.length < 2;
  renderFilters();
  if (DOCUMENTS.length) openDocument(0);
  else $("shown").textContent = "There is no document to show.";
})();
