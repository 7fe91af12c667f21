"use strict";

// Claims against documents. A chosen cell shows its document, and why it is what it is.
(() => {
  const SIGNS = { SUPPORTS: "+", CONTRADICTS: "−", IRRELEVANT: "○", INVALID: "?" };
  const WORDS = { SUPPORTS: "supports", CONTRADICTS: "contradicts", IRRELEVANT: "irrelevant", INVALID: "unreadable" };
  const VERDICTS = {
    SUPPORTS: "The document supports the claim",
    CONTRADICTS: "The document contradicts the claim",
    IRRELEVANT: "The document says nothing of the claim",
    INVALID: "The judgement could not be read",
  };
  const naming = ({ number: own, title }) => `D${own}: ${title}`;
  const shareOf = ({ relation, shares = [] }) => shares.find(([name]) => name === relation)?.[1];

  const Panel = ({ row, cell, source }) => html`<div class="panel" role="region" aria-label="Judgement">
    <p class=${`judged tone-${cell.relation}`}>${SIGNS[cell.relation]} ${VERDICTS[cell.relation]}</p>
    <p class="claim" dir="auto">${row.text}</p>
    ${cell.shares && html`<dl class="chances" aria-label="Probability of each label">${cell.shares.map(([name, value]) => html`
      <dt>${WORDS[name]}</dt><dd class="bar" aria-hidden="true"><i class=${`fill-${name}`} style=${{ "--share": value }}></i></dd><dd>${share(value)}</dd>`)}</dl>`}
    ${cell.unsure && html`<p class="note">Unsure: the next label is nearly as likely.</p>`}
    ${cell.mass !== undefined && html`<p class="note">Only ${share(cell.mass)} of the model's probability fell on the labels.</p>`}
    ${cell.reasoning && html`<h4>Reasoning</h4><p dir="auto">${cell.reasoning}</p>`}
    ${cell.raw && html`<h4>Reply as it came</h4><pre class="raw" dir="auto" tabindex="0">${cell.raw}</pre>`}
    <h4 dir="auto">${naming(source)}</h4>
    <p class="about"><${Words} of=${[...(source.about ?? []), ...(source.url ? [{ kind: "aside", text: source.url }] : [])]} /></p>
    ${cell.quote && html`<p class="note">${cell.found ? "Quoted, beyond what is shown of the document:" : "Quoted, but not found in the document:"}</p><${kinds.quote} text=${cell.quote} />`}
    ${cell.read && html`<p class="note">${cell.read}</p>`}
    <${kinds.text} text=${source.text} spans=${cell.span ? [cell.span] : []} label="Text of the document" />
    <p class="note">Judged by ${cell.judge}.</p></div>`;

  kinds.matrix = ({ corner, rows, sources, first }) => {
    const [[down, across], choose] = useState(first);
    const table = useRef();
    const move = (event) => {
      const [row, column] = (event.target.dataset.cell ?? "").split(",").map(Number);
      const steps = {
        ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
        Home: [row, 0], End: [row, sources.length - 1],
      };
      if (!(event.key in steps)) return;
      event.preventDefault();
      table.current.querySelector(`[data-cell="${steps[event.key]}"]`)?.focus(); // which chooses it
    };
    const used = new Set(rows.flatMap(({ cells }) => cells.map((cell) => cell?.relation)));
    const chosen = rows[down].cells[across];
    return html`<div class=${sources.length > 6 ? "board stacked" : "board"}><div>
      <p class="note">Choose a cell to read why. Arrow keys move between cells.</p>
      <div class="scroll"><table class="matrix" ref=${table} onKeyDown=${move}><caption class="hidden-text">${corner} against each document</caption>
        <thead><tr><th scope="col">${corner}</th>${sources.map((source) => html`<th scope="col" title=${naming(source)}>D${source.number}<span class="short" dir="auto">${source.title}</span>${source.note && html`<span class="chip">cut</span>`}</th>`)}</tr></thead>
        <tbody>${rows.map((row, number) => html`<tr><th scope="row" dir="auto"><span class="row-number">${number + 1}</span>${row.chip && html`<${Blocks} of=${[row.chip]} />${" "}`}<span class=${row.text.length > 300 ? "row-text long" : "row-text"}>${row.text}</span></th>
          ${row.cells.map((cell, column) => {
            if (!cell) return html`<td>–</td>`;
            const own = shareOf(cell);
            const label = `${corner} ${number + 1}, ${naming(sources[column])}: ${WORDS[cell.relation]}${own === undefined ? "" : `, ${share(own)}`}${cell.unsure ? ", unsure" : ""}`;
            const here = number === down && column === across;
            return html`<td><button type="button" class=${`cell tone-${cell.relation}`} data-cell=${`${number},${column}`} aria-label=${label} title=${label} tabindex=${here ? "0" : "-1"} aria-pressed=${String(here)}
              style=${{ "--share": own ?? 0 }} onClick=${(event) => event.currentTarget.focus()} onFocus=${() => choose([number, column])}>${SIGNS[cell.relation]}</button></td>`;
          })}</tr>`)}</tbody></table></div>
      <ul class="key" aria-label="Signs in the matrix">${Object.keys(SIGNS).filter((name) => used.has(name)).map((name) => html`<li><b class=${`tone-${name}`} aria-hidden="true">${SIGNS[name]}</b>${WORDS[name]}</li>`)}</ul></div>
      ${chosen && html`<${Panel} row=${rows[down]} cell=${chosen} source=${sources[across]} />`}</div>`;
  };
})();
