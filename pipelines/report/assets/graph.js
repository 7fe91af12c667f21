"use strict";

// Points and lines between them; a numbered point leads to its source. What contradicts is a square.
kinds.graph = ({ label, width, height, nodes, edges }) => {
  const { address } = useContext(Opened);
  const Point = ({ said, x, y, tone = "plain", number: own }) => {
    const size = own ? 12 : 6;
    const mark = tone === "contradict"
      ? html`<rect class="mark" x=${x - size} y=${y - size} width=${2 * size} height=${2 * size} rx="2" />`
      : html`<circle class="mark" cx=${x} cy=${y} r=${size} />`;
    const drawn = html`${mark}<title>${said}</title>${own && html`<text x=${x} y=${y + 4}>${own}</text>`}`;
    return own
      ? html`<a class=${`node side-${tone}`} href=${`#${address}?source=${own}`} data-source=${own} aria-label=${`[${own}] ${said}`}>${drawn}</a>`
      : html`<g class=${`node side-${tone}`}>${drawn}</g>`;
  };
  return html`<svg class="graph" viewBox=${`0 0 ${width} ${height}`} role="group" aria-label=${label}>
    ${edges.map(({ one, other, width: stroke }) => html`<line class="edge" x1=${nodes[one].x} y1=${nodes[one].y} x2=${nodes[other].x} y2=${nodes[other].y} stroke-width=${stroke} />`)}
    ${nodes.map((node) => html`<${Point} ...${node} />`)}</svg>`;
};
