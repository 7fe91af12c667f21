"use strict";

// Two texts: a word that is pointed at shades the other text by what it rests on, and texts up to a
// limit are marked. Words rest on others by shares of salience, or by nats that they lose.
(() => {
  const LEVELS = 10;
  const CELL = 65535;
  const LOWEST = -3; // powers of ten, as the cells were made
  const decoded = (cells) => new Uint16Array(Uint8Array.from(atob(cells), (character) => character.charCodeAt(0)).buffer);
  const levelOf = (strength) => Math.min(LEVELS - 1, Math.floor(strength * LEVELS));
  const percent = (cell) => {
    if (cell === 0) return "less than 0.1 %";
    const part = 100 * 10 ** (LOWEST * (1 - cell / CELL));
    return `${part < 10 ? part.toFixed(1) : part.toFixed(0)} %`;
  };
  const LONGEST = 60;
  const brief = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

  // How values are told. The slider's numbers are values times `times`.
  const SHARES = {
    strength: (share) => Math.max(0, 1 - Math.log10(share || 1e-9) / LOWEST),
    times: 100, highest: 5, told: (share) => `${(100 * share).toFixed(2)} %`, limit: (most) => `${most.toFixed(1)} %`,
    marks: ["Mark what has less than", "of the salience"], named: "Mark what has less than this share of the salience, in percent",
    rests: (own, there, cell) => `“${own}” rests on “${there}” most, with ${percent(cell)} of its salience.`,
    gives: (own, there, cell) => `“${own}” gives most to “${there}”: ${percent(cell)} of what that rests on.`,
  };
  const lossesUpTo = (nats) => {
    const loss = (cell) => `${((nats * cell) / CELL).toFixed(2)} nats`;
    return {
      strength: (lost) => Math.min(1, Math.max(0, lost / nats)),
      times: 1, highest: 2, told: (lost) => `${lost.toFixed(2)} nats`, limit: (most) => `${most.toFixed(1)} nats`,
      marks: ["Mark what makes a difference of at most", ""], named: "Mark what makes a difference of at most so many nats",
      rests: (own, there, cell) => (cell ? `“${own}” loses most without “${brief(there)}”: ${loss(cell)}.` : `“${own}” loses nothing without any of these.`),
      gives: (own, there, cell) => (cell ? `Without “${brief(own)}”, “${there}” loses most: ${loss(cell)}.` : `Without “${brief(own)}” no word loses anything.`),
    };
  };
  // All words of a side in order, each with its text.
  const wordsOf = (side, scale) => side.flatMap(({ text, words = [] }) => {
    const slice = slicer(text);
    return words.map(({ start, end, share }) => ({ text: slice(start, end), level: levelOf(scale.strength(share)) }));
  });

  const Passage = ({ text, words = [], label, share = null, axis, levels, first, verdict, marked, scale }) => {
    const slice = slicer(text);
    let done = 0;
    const pieces = words.map(({ start, end }, place) => {
      const before = slice(done, start);
      done = end;
      return [before, html`<span class=${`word heat-${levels[first + place]}`} data-axis=${axis} data-word=${first + place} tabindex="0">${slice(start, end)}</span>`];
    });
    return html`<p class=${`part${marked ? " marked" : ""}`} dir="auto">${label && html`<span class="label">${label}</span>${" "}`}${pieces}${slice(done)}
      ${verdict && share !== null && html`${" "}${marked && html`<span class="chip tone-contradict">${verdict}</span>${" "}`}<span class="aside">${scale.told(share)}</span>`}</p>`;
  };
  const Side = ({ title, of, ...shared }) => {
    let count = 0;
    return html`<div><h4>${title}</h4>${of.map(({ words = [], ...each }) => {
      const first = count;
      count += words.length;
      const marked = Boolean(shared.verdict) && (each.share ?? null) !== null && shared.scale.times * each.share <= shared.most + 1e-9;
      return html`<${Passage} words=${words} ...${each} ...${shared} first=${first} marked=${marked} />`;
    })}</div>`;
  };

  kinds.heatmap = ({ given, response, cells, left_out: leftOut, added, limit = 0, nats = null }) => {
    const scale = useMemo(() => (nats === null ? SHARES : lossesUpTo(nats)), [nats]);
    const matrix = useMemo(() => decoded(cells), [cells]);
    const words = useMemo(() => ({ row: wordsOf(given, scale), column: wordsOf(response, scale) }), [given, response, scale]);
    const [pointed, point] = useState(null);
    const [most, setMost] = useState(scale.times * limit);
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
        said = (axis === "column" ? scale.rests : scale.gives)(own, there, values[best]);
      }
    }
    const at = ({ target }) => {
      const word = target.closest("[data-word]");
      point(word ? { axis: word.dataset.axis, place: Number(word.dataset.word) } : null);
    };
    const rest = () => point(null);
    return html`<div class="heatmap">
      ${(leftOut || added) && html`<p class="limit"><span>${scale.marks[0]} <output>${scale.limit(most)}</output> ${scale.marks[1]}</span>${" "}
        <input type="range" aria-label=${scale.named} min="0" max=${scale.highest} step="0.1" value=${most} onInput=${(event) => setMost(Number(event.target.value))} autocomplete="off" /></p>`}
      <p class="note said-of" aria-live="polite">${said}</p>
      <div class="sides" onMouseOver=${at} onMouseLeave=${rest} onfocusin=${at} onfocusout=${rest}>
        <${Side} title="Given" of=${given} axis="row" levels=${levels.row} verdict=${leftOut} most=${most} scale=${scale} />
        <${Side} title="Response" of=${response} axis="column" levels=${levels.column} verdict=${added} most=${most} scale=${scale} />
      </div></div>`;
  };

  kinds.picture = ({ png, alt }) => html`<div class="scroll picture" tabindex="0"><img src=${`data:image/png;base64,${png}`} alt=${alt} /></div>`;
})();
