"use strict";

// Sources on a line of years: a dot where a day lies, and above it the number, stacked.
(() => {
  const LANE = 24, BELOW = 26;
  const Years = ({ axis, labels, size, address }) => {
    const height = axis.lanes * LANE + 14;
    return html`<svg class=${`years on-${size}`} viewBox=${`0 0 ${axis.width} ${height + BELOW}`} role="group" aria-label="Sources by date">
      <line class="axis" x1="0" x2=${axis.width} y1=${height} y2=${height} />
      ${axis.ticks.map(({ x, year }) => html`<line class="axis" x1=${x} x2=${x} y1=${height} y2=${height + 6} /><text class="year" x=${x} y=${height + 20} text-anchor="middle">${year}</text>`)}
      ${axis.dots.map(({ x, lane }) => html`<line class="stem" x1=${x} x2=${x} y1=${height} y2=${height - lane * LANE - 8} />`)}
      ${axis.dots.map((dot) => {
        const middle = height - 18 - dot.lane * LANE;
        return html`<a class="dated" href=${`#${address}?source=${dot.number}`} data-source=${dot.number} aria-label=${labels[dot.number - 1]}>
          <circle cx=${dot.x} cy=${height} r="3.5" /><rect x=${dot.x - 14} y=${middle - 10} width="28" height="20" rx="5" />
          <text x=${dot.x} y=${middle + 4} text-anchor="middle">[${dot.number}]</text></a>`;
      })}</svg>`;
  };
  kinds.timeline = ({ axes: [wide, narrow], labels }) => {
    const { address } = useContext(Opened);
    const [pointed, setPointed] = useState(wide.dots.length ? "Point at a source to see its title and date." : "No source has a date.");
    const point = ({ target }) => {
      const own = target.closest("[data-source]")?.dataset.source;
      if (own) setPointed(labels[own - 1]);
    };
    return html`<div class="dates" onPointerOver=${point} onfocusin=${point}>
      ${wide.dots.length > 0 && html`<${Years} axis=${wide} labels=${labels} size="wide" address=${address} /><${Years} axis=${narrow} labels=${labels} size="narrow" address=${address} />`}
      ${wide.undated.length > 0 && html`<div class="undated"><span class="note">no date</span>${wide.undated.map((own) => html`
        <a class="cite" href=${`#${address}?source=${own}`} data-source=${own} aria-label=${labels[own - 1]}>[${own}]</a>`)}</div>`}</div>
      <p class="pointed note" dir="auto" aria-hidden="true">${pointed}</p>`;
  };
})();
