"use strict";
/** The numbers of one document, and its chunks' similarities as a picture. `pick` gets the index of a chunk. */
function scoreNodes(el, score, pick) {
  const fixed = (value, digits) => value == null ? "–" : value.toFixed(digits);
  const signed = (value) => value == null ? "–" : `${value > 0 ? "+" : ""}${value.toFixed(2)}`;
  const cell = (text) => el("td", null, text);
  const rows = [["LI", "logical independence", score.li, score.li_corrected],
    ["SD", "semantic dispersion", score.sd, score.sd_corrected], ["score", "ChunkScore", score.value, score.corrected]];
  const table = el("table", { class: "score" },
    el("thead", null, el("tr", null, el("th", { scope: "col" }, ""), el("th", { scope: "col" }, "raw"),
      el("th", { scope: "col" }, "against chance"))),
    el("tbody", null, rows.map(([name, title, raw, corrected]) => el("tr", null,
      el("th", { scope: "row", title }, name), cell(fixed(raw, 3)), cell(signed(corrected))))));
  const error = score.corrected_se ? ` The last number is uncertain by ±${score.corrected_se.toFixed(2)}.` : "";
  const chance = "Against chance: standard deviations above random partitions into as many chunks.";
  const parts = [score.reason ? el("p", { class: "warning" }, score.reason) : table];
  if (!score.reason) parts.push(el("p", { class: "hint" }, chance + error));
  for (const note of score.notes ?? []) parts.push(el("p", { class: "hint" }, note));
  if (score.gram?.length > 1) parts.push(heatMap(el, score, pick));
  parts.push(el("details", null, el("summary", null, "Signature"), el("p", { class: "hint" }, score.signature)));
  return parts;
}

function heatMap(el, { gram, per_cell: perCell, n_chunks: nChunks }, pick) {
  const n = gram.length, side = Math.max(1, Math.floor(480 / n)), size = side * n;
  const apart = gram.flatMap((row, i) => row.filter((_, j) => i !== j));
  const low = Math.min(...apart), high = Math.max(...apart);
  const label = `Similarity of every two of ${nChunks} chunks: lightest ${low.toFixed(2)}, darkest ${high.toFixed(2)}`;
  const canvas = el("canvas", { id: "gram", width: size, height: size, role: "img", "aria-label": label });
  const context = canvas.getContext("2d");
  gram.forEach((row, i) => row.forEach((value, j) => {
    const share = high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) : 0.5;
    context.fillStyle = `hsl(190 55% ${Math.round(94 - 68 * share)}%)`;
    context.fillRect(j * side, i * side, side, side);
  }));
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const place = (from, length) => Math.min(n - 1, Math.max(0, Math.floor(((from) / length) * n)));
    return [place(event.clientY - box.top, box.height), place(event.clientX - box.left, box.width)];
  };
  const told = el("p", { class: "hint", id: "gram-told" }, `${label}. Pick a cell to go to its chunk.`);
  canvas.addEventListener("mousemove", (event) => {
    const [i, j] = at(event), names = [i, j].map((index) => index * perCell + 1);
    told.textContent = `Chunks ${names[0]} and ${names[1]}: ${gram[i][j].toFixed(3)}`;
  });
  canvas.addEventListener("click", (event) => pick(Math.min(nChunks - 1, at(event)[1] * perCell)));
  return el("figure", { class: "gram" }, canvas, el("figcaption", null, told));
}
