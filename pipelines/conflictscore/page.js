"use strict";

// The list of responses: its order, and what one shows.
(() => {
  const { append, make } = elements;

  const SIGNS = { SUPPORTS: "+", CONTRADICTS: "−", IRRELEVANT: "○", INVALID: "?" };
  const WORDS = { SUPPORTS: "supports", CONTRADICTS: "contradicts", IRRELEVANT: "irrelevant", INVALID: "unreadable" };
  const VERDICTS = {
    SUPPORTS: "The document supports the claim",
    CONTRADICTS: "The document contradicts the claim",
    IRRELEVANT: "The document says nothing of the claim",
    INVALID: "The judgement could not be read",
  };

  const stored = (id) => JSON.parse(document.getElementById(id).textContent);
  const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.01 ? 1 : 0)} %`;
  const naming = (source, index) => `D${index + 1}` + (source.title ? `: ${source.title}` : `: ${source.id}`);

  const meta = (source) => {
    const parts = [source.id, source.date, source.url].filter(Boolean);
    return make("p", { class: "meta", dir: "auto" }, parts.join(" · "));
  };

  // The document's text with the quoted passage marked.
  const passage = (source, span) => {
    const box = make("div", { class: "text passage", dir: "auto", tabindex: "0", role: "region", "aria-label": "Text of the document" });
    if (span) {
      box.append(
        source.text.slice(0, span[0]),
        make("mark", {}, source.text.slice(span[0], span[1])),
        source.text.slice(span[1]),
      );
    } else {
      box.append(source.text);
    }
    return box;
  };
  const rest = (source) => source.length
    ? make("p", { class: "note" }, `The first ${source.text.length.toLocaleString("en")} of ${source.length.toLocaleString("en")} characters are shown.`)
    : null;

  const chances = (cell) => {
    if (!cell.probabilities) return null;
    const list = make("dl", { class: "chances", "aria-label": "Probability of each label" });
    for (const [label, share] of Object.entries(cell.probabilities)) {
      const bar = make("i", { class: `fill-${label}` });
      bar.style.setProperty("--share", share);
      list.append(make("dt", {}, WORDS[label] ?? label), make("dd", { class: "bar", "aria-hidden": "true" }, bar), make("dd", {}, percent(share)));
    }
    return list;
  };

  const quoted = (cell) => {
    if (!cell.snippet || cell.span) return null;
    const note = cell.found ? "Quoted, beyond what is shown of the document:" : "Quoted, but not found in the document:";
    return [make("p", { class: "note" }, note), make("p", { class: "text", dir: "auto" }, `“${cell.snippet}”`)];
  };

  const show = (panel, claim, cell, source, index, cut) => {
    const read = cell.read_tokens !== undefined
      ? `The labeller saw the first ${cell.read_tokens.toLocaleString("en")} tokens of this document` + (cut ? ` of ${cut[1].toLocaleString("en")}.` : ".")
      : null;
    panel.replaceChildren();
    append(panel,
      make("span", { class: `verdict tone-${cell.relation}` }, `${SIGNS[cell.relation]} ${VERDICTS[cell.relation]}`),
      make("p", { class: "claim", dir: "auto" }, claim.text),
      chances(cell),
      cell.label_mass !== undefined && cell.label_mass < 0.5
        ? make("p", { class: "note" }, `Only ${percent(cell.label_mass)} of the model's probability fell on the labels.`) : null,
      cell.reasoning ? [make("h5", {}, "Reasoning"), make("p", { dir: "auto" }, cell.reasoning)] : null,
      cell.raw ? [make("h5", {}, "Reply as it came"), make("pre", { class: "raw", dir: "auto", tabindex: "0" }, cell.raw)] : null,
      make("h5", { dir: "auto" }, naming(source, index)),
      meta(source),
      quoted(cell),
      read ? make("p", { class: "note" }, read) : null,
      passage(source, cell.span),
      rest(source),
      make("p", { class: "note" }, `Judged by ${cell.source}.`));
    const mark = panel.querySelector("mark");
    // Scroll within the passage only: the page must stay where the reader is.
    if (mark) mark.parentElement.scrollTop = Math.max(0, mark.offsetTop - 40);
  };

  const badge = (claim) => {
    if (claim.state === "conflict") return make("span", { class: "badge badge-conflict" }, "conflict");
    if (claim.state === "undetermined") return make("span", { class: "badge badge-invalid" }, "undetermined");
    if (claim.state === "none") return make("span", { class: "badge" }, "no evidence");
    return null;
  };

  const matrix = (content, sources, panel) => {
    const buttons = [];
    const choose = (row, column, focus) => {
      const target = buttons[row]?.[column];
      if (!target) return;
      for (const button of buttons.flat()) {
        button?.setAttribute("tabindex", button === target ? "0" : "-1");
        button?.setAttribute("aria-pressed", String(button === target));
      }
      const claim = content.claims[row];
      show(panel, claim, claim.cells[column], sources[column], column, content.cuts[`document ${sources[column].id}`]);
      if (focus && document.activeElement !== target) target.focus();
    };
    const head = make("tr", {}, make("th", { scope: "col" }, "Claim"), sources.map((source, index) =>
      make("th", { scope: "col", title: naming(source, index) }, `D${index + 1}`,
        make("span", { class: "short", dir: "auto" }, source.title ?? source.id),
        content.cuts[`document ${source.id}`] ? make("span", { class: "badge" }, "cut") : null)));
    const body = content.claims.map((claim, row) => {
      buttons.push([]);
      const cells = claim.cells.map((cell, column) => {
        if (!cell) { buttons[row].push(null); return make("td", {}, "–"); }
        const share = cell.probabilities?.[cell.relation];
        const label = `Claim ${row + 1}, ${naming(sources[column], column)}: ${WORDS[cell.relation]}` + (share === undefined ? "" : `, ${percent(share)}`);
        const button = make("button", { type: "button", class: `cell ${cell.relation}`, "aria-label": label, title: label, tabindex: "-1", "aria-pressed": "false" }, SIGNS[cell.relation]);
        if (share !== undefined) button.style.setProperty("--share", share);
        button.addEventListener("click", () => choose(row, column, true));
        button.addEventListener("focus", () => choose(row, column, false));
        buttons[row].push(button);
        return make("td", {}, button);
      });
      return make("tr", {}, make("th", { scope: "row", dir: "auto" }, make("span", { class: "claim-number" }, `${row + 1}`), badge(claim), make("span", { class: claim.text.length > 300 ? "claim-text long" : "claim-text" }, claim.text)), cells);
    });
    const table = make("table", { class: "matrix" },
      make("caption", { class: "hidden-text" }, "Each claim against each document"),
      make("thead", {}, head), make("tbody", {}, body));
    table.addEventListener("keydown", (event) => {
      const row = buttons.findIndex((line) => line.includes(event.target));
      if (row < 0) return;
      const column = buttons[row].indexOf(event.target);
      const steps = {
        ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
        Home: [row, 0], End: [row, buttons[row].length - 1],
      };
      if (!(event.key in steps)) return;
      event.preventDefault();
      choose(...steps[event.key], true);
    });
    const used = new Set(content.claims.flatMap((claim) => claim.cells.map((cell) => cell?.relation)));
    const key = make("ul", { class: "key", "aria-label": "Signs in the matrix" }, Object.keys(SIGNS).filter((label) => used.has(label)).map((label) =>
      make("li", {}, make("b", { class: `tone-${label}`, "aria-hidden": "true" }, SIGNS[label]), WORDS[label])));
    const hint = make("p", { class: "note" }, "Choose a cell to read why. Arrow keys move between cells.");
    return { element: make("div", {}, hint, make("div", { class: "scroll" }, table), key), choose };
  };

  const papers = (sources) => make("div", { class: "papers" }, make("h4", {}, `Documents (${sources.length})`), sources.map((source, index) => {
    const box = make("details", {}, make("summary", { dir: "auto" }, naming(source, index)));
    box.addEventListener("toggle", () => {
      if (box.open && box.children.length === 1) append(box, meta(source), make("div", { class: "text", dir: "auto" }, source.text), rest(source));
    });
    return box;
  }));

  // A conflicting claim is what a reader comes for: the first contradiction of the first one opens.
  const first = (content) => {
    const row = Math.max(0, content.claims.findIndex((claim) => claim.state === "conflict"));
    const cells = content.claims[row].cells;
    const wanted = cells.findIndex((cell) => cell?.relation === "CONTRADICTS");
    return [row, wanted >= 0 ? wanted : cells.findIndex(Boolean)];
  };

  const draw = (place, content) => {
    const sources = stored(content.documents);
    if (content.claims.length) {
      const panel = make("div", { class: "panel", role: "region", "aria-label": "Judgement" });
      const drawn = matrix(content, sources, panel);
      place.append(make("div", { class: sources.length > 6 ? "board stacked" : "board" }, drawn.element, panel));
      drawn.choose(...first(content), false);
    }
    place.append(papers(sources));
  };

  const FITS = {
    "": () => true,
    conflict: (data) => Number(data.conflicts) > 0,
    unreadable: (data) => Number(data.unreadable) > 0,
    cut: (data) => Number(data.cut) > 0,
  };
  const fits = (data, chosen) => {
    if (chosen("variant") && data.variant !== chosen("variant")) return false;
    return FITS[chosen("show")]?.(data) ?? data.status === chosen("show");
  };

  const value = (data, key) => {
    if (!(key in data)) return null;
    return key === "variant" || key === "status" ? data[key] : Number(data[key]);
  };
  const compare = (key, down) => (one, other) => {
    const [a, b] = [value(one, key), value(other, key)];
    if (a === b) return Number(one.number) - Number(other.number);
    if (a === null || b === null) return a === null ? 1 : -1; // what has no score comes last
    return (a < b ? -1 : 1) * (down ? -1 : 1);
  };
  const responses = document.querySelector(".responses");
  const list = responses.querySelector(".listing");
  const by = responses.querySelector(".filters").elements.order;
  const order = () => {
    const wanted = compare(by.value.replace("-", ""), by.value.startsWith("-"));
    list.append(...[...list.children].sort((one, other) => wanted(one.firstElementChild.dataset, other.firstElementChild.dataset)));
  };
  by.addEventListener("change", order);
  addEventListener("pageshow", order); // a browser that goes back restores the choice

  listing(responses, { draw, fits, searched: ["summary", ".response-text", ".trouble"] });
})();
