"use strict";

// A debate: voices down, rounds across. The document of a voice opens in a row of its own below it,
// where it has the width of the grid.
(() => {
  const Voice = ({ name, head, title, text, cells }) => {
    const [open, setOpen] = useState(false);
    return html`
      <tr><th scope="row"><${Blocks} of=${head} />
        <button type="button" class="opens" aria-expanded=${String(open)} dir="auto" onClick=${() => setOpen(!open)}><${Said} text=${`${name}: `} />${title}</button></th>
        ${cells.map((content) => html`<td class=${content.some(({ kind }) => kind === "unread") ? "unreadable" : ""}><${Blocks} of=${content} /></td>`)}</tr>
      <tr class="reading" hidden=${!open}><td colspan=${cells.length + 1}><${kinds.text} text=${text} label=${`Document of ${name.toLowerCase()}`} /></td></tr>`;
  };
  kinds.debate = ({ name, corner, voices, closing, conclusions, end }) => html`
      <div class="scroll held" tabindex="0" role="region" aria-label=${`Debate, ${name}`}>
        <table class="debate" style=${{ "--rounds": conclusions.length }}><caption class="hidden-text">What each agent says in each round, ${name}</caption>
          <thead><tr><th scope="col">${corner}</th>${conclusions.map((_, place) => html`<th scope="col">Round ${place + 1}</th>`)}</tr></thead>
          <tbody>${voices.map((voice) => html`<${Voice} ...${voice} />`)}</tbody>
          <tfoot><tr><th scope="row"><${Blocks} of=${closing} /></th>${conclusions.map((content) => html`<td><${Blocks} of=${content} /></td>`)}</tr></tfoot>
        </table></div>
      <p class="end">${end}</p>`;
})();
