"use strict";

// Two texts: a word that is pointed at shades the other text by what it rests on, and texts up to a
// limit are marked.
(() => {
  const LEVELS = 10;
  const CELL = 65535;
  const LOWEST = -3; // powers of ten, as the cells were made
  const decoded = (cells) => new Uint16Array(Uint8Array.from(atob(cells), (character) => character.charCodeAt(0)).buffer);
  const levelOf = (strength) => Math.min(LEVELS - 1, Math.floor(strength * LEVELS));
  const levelOfShare = (share) => levelOf(Math.max(0, 1 - Math.log10(share || 1e-9) / LOWEST));
  const percent = (cell) => {
    if (cell === 0) return "less than 0.1 %";
    const part = 100 * 10 ** (LOWEST * (1 - cell / CELL));
    return `${part < 10 ? part.toFixed(1) : part.toFixed(0)} %`;
  };
  // All words of a side in order, each with its text.
  const wordsOf = (side) => side.flatMap(({ text, words = [] }) => {
    const slice = slicer(text);
    return words.map(({ start, end, share }) => ({ text: slice(start, end), level: levelOfShare(share) }));
  });

  const Passage = ({ text, words = [], label, share = null, axis, levels, first, verdict, marked }) => {
    const slice = slicer(text);
    let done = 0;
    const pieces = words.map(({ start, end }, place) => {
      const before = slice(done, start);
      done = end;
      return [before, html`<span class=${`word heat-${levels[first + place]}`} data-axis=${axis} data-word=${first + place} tabindex="0">${slice(start, end)}</span>`];
    });
    return html`<p class=${`part${marked ? " marked" : ""}`} dir="auto">${label && html`<span class="label">${label}</span>${" "}`}${pieces}${slice(done)}
      ${verdict && share !== null && html`${" "}${marked && html`<span class="chip tone-contradict">${verdict}</span>${" "}`}<span class="aside">${(100 * share).toFixed(2)} %</span>`}</p>`;
  };
  const Side = ({ title, of, ...shared }) => {
    let count = 0;
    return html`<div><h4>${title}</h4>${of.map(({ words = [], ...each }) => {
      const first = count;
      count += words.length;
      const marked = Boolean(shared.verdict) && (each.share ?? null) !== null && 100 * each.share <= shared.most + 1e-9;
      return html`<${Passage} words=${words} ...${each} ...${shared} first=${first} marked=${marked} />`;
    })}</div>`;
  };

  kinds.heatmap = ({ given, response, cells, left_out: leftOut, added, limit = 0 }) => {
    const matrix = useMemo(() => decoded(cells), [cells]);
    const words = useMemo(() => ({ row: wordsOf(given), column: wordsOf(response) }), [given, response]);
    const [pointed, point] = useState(null);
    const [most, setMost] = useState(100 * limit);
    const columns = words.column.length;
    const cell = (row, column) => matrix[row * columns + column];

    const levels = { row: words.row.map(({ level }) => level), column: words.column.map(({ level }) => level) };
    let said = "Point at a word, or move to it with the Tab key, to see what it rests on, or what rests on it.";
    if (pointed) {
      const { axis, place } = pointed;
      const other = axis === "row" ? "column" : "row";
      const values = words[other].map((_, there) => (axis === "row" ? cell(place, there) : cell(there, place)));
      levels[other] = values.map((value) => levelOf(value / CELL));
      levels[axis] = levels[axis].map((_, each) => (each === place ? LEVELS - 1 : 0));
      const best = values.indexOf(Math.max(...values));
      if (best >= 0) {
        const [own, there] = [words[axis][place].text, words[other][best].text];
        said = axis === "column"
          ? `“${own}” rests on “${there}” most, with ${percent(values[best])} of its salience.`
          : `“${own}” gives most to “${there}”: ${percent(values[best])} of what that rests on.`;
      }
    }
    const at = ({ target }) => {
      const word = target.closest("[data-word]");
      point(word ? { axis: word.dataset.axis, place: Number(word.dataset.word) } : null);
    };
    const rest = () => point(null);
    return html`<div class="heatmap">
      ${(leftOut || added) && html`<p class="limit"><span>Mark what has less than <output>${most.toFixed(1)} %</output> of the salience</span>${" "}
        <input type="range" aria-label="Mark what has less than this share of the salience, in percent" min="0" max="5" step="0.1" value=${most} onInput=${(event) => setMost(Number(event.target.value))} autocomplete="off" /></p>`}
      <p class="note said-of" aria-live="polite">${said}</p>
      <div class="sides" onMouseOver=${at} onMouseLeave=${rest} onfocusin=${at} onfocusout=${rest}>
        <${Side} title="Given" of=${given} axis="row" levels=${levels.row} verdict=${leftOut} most=${most} />
        <${Side} title="Response" of=${response} axis="column" levels=${levels.column} verdict=${added} most=${most} />
      </div></div>`;
  };

  kinds.picture = ({ png, alt }) => html`<div class="scroll picture" tabindex="0"><img src=${`data:image/png;base64,${png}`} alt=${alt} /></div>`;
})();
