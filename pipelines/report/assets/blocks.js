"use strict";

// The blocks of an example: a component per kind, as blocks.py declares them. Text goes in as text
// nodes only; nothing here ever parses HTML.
const { html, render, createContext, useContext, useEffect, useMemo, useRef, useState } = htmPreact;

const kinds = {};
const Blocks = ({ of = [] }) => of.map((block) => (typeof block === "string" ? block : html`<${kinds[block.kind]} ...${block} />`));

// The example that is open: its address, the number of the source that a link leads to, and how
// often a link was followed (to one source twice, it may have been closed in between).
const Opened = createContext({ address: "", source: null, times: 0 });

// What belongs to the source that was pointed at last lights up, or to those of a sentence.
const light = (root, target) => {
  const pointed = target.closest("[data-source], [data-sources]")?.dataset;
  if (!pointed) return;
  const own = (pointed.source ?? pointed.sources).split(" ");
  for (const each of root.querySelectorAll("[data-source]")) each.classList.toggle("lit", own.includes(each.dataset.source));
};

const LONG = 170; // characters of an explanation that stay unfolded
const number = (value) => value.toLocaleString("en");
const share = (value) => `${(100 * value).toFixed(value > 0 && value < 0.01 ? 1 : 0)} %`;
const Sign = ({ text }) => (text ? html`<b aria-hidden="true">${text}</b>${" "}` : null);
const Said = ({ text }) => html`<span class="hidden-text">${text}</span>`;

// Within a line.
kinds.chip = ({ text, tone = "plain", sign, said }) => html`
  <span class=${`chip tone-${tone}`} dir="auto"><${Sign} text=${sign} />${text}${said && html`<${Said} text=${` (${said})`} />`}</span>`;
kinds.aside = ({ text }) => html`<span class="aside" dir="auto">${text}</span>`;
kinds.strong = ({ text }) => html`<strong dir="auto">${text}</strong>`;
kinds.cite = ({ number: cited }) => {
  const { address } = useContext(Opened);
  return html`<a class="cite" href=${`#${address}?source=${cited}`} data-source=${cited} aria-label=${`Source ${cited}`}>[${cited}]</a>`;
};
// Words beside each other keep a space between them, for those who hear or copy them.
const Words = ({ of }) => of.map((each, place) => [place ? " " : null, html`<${Blocks} of=${[each]} />`]);

kinds.line = ({ content }) => html`<p class="line"><${Words} of=${content} /></p>`;
kinds.items = ({ items }) => html`<ul class="items">${items.map((content) => html`<li class="line"><${Words} of=${content} /></li>`)}</ul>`;
kinds.heading = ({ text }) => html`<h3>${text}</h3>`;
kinds.facts = ({ facts }) => html`<dl class="known">${facts.map(({ label, lines, content }) => html`
  <div><dt>${label}</dt>${lines.map((each) => html`<dd class="line" dir="auto"><${Words} of=${each} /></dd>`)}${content && html`<dd><${Blocks} of=${content} /></dd>`}</div>`)}</dl>`;

kinds.grid = ({ label, columns, rows }) => html`
  <div class="scroll" tabindex="0" role="region" aria-label=${label}><table class="figures"><caption class="hidden-text">${label}</caption>
    <thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map(([first, ...others]) => html`<tr><th scope="row"><${Words} of=${first} /></th>${others.map((content) => html`<td class="short"><${Words} of=${content} /></td>`)}</tr>`)}</tbody></table></div>`;

kinds.note = ({ text, label }) => {
  const whole = html`<p class="why" dir="auto">${label && html`<span class="aside">${label}: </span>`}${text}</p>`;
  if (text.length <= LONG) return whole;
  const start = `${text.slice(0, LONG - 30).replace(/[\s,;:.]+\S*$/, "")}…`;
  return html`<details class="folded">
    <summary dir="auto"><span class="start">${label && `${label}: `}${start}</span>${" "}<span class="more">all of it</span><span class="less">less of it</span></summary>
    ${whole}</details>`;
};
const Raw = ({ text }) => html`<pre class="raw" dir="auto" tabindex="0">${text}</pre>`;
kinds.unread = ({ problem, raw }) => html`
  <p class="why" dir="auto">${problem}</p>
  ${raw && html`<details class="reply"><summary>Reply as it came</summary><${Raw} text=${raw} /></details>`}`;
kinds.trouble = ({ title, text, raw }) => html`<div class="trouble">
  <p><strong>${title}.</strong>${" "}<span dir="auto">${text}</span></p>${raw && html`<${Raw} text=${raw} />`}</div>`;

kinds.quote = ({ text }) => html`<blockquote dir="auto">${text}</blockquote>`;
kinds.bars = ({ label, bars }) => html`<table class="bars"><caption class="hidden-text">${label}</caption><tbody>${bars.map((bar) => html`
  <tr class=${bar.chosen ? "chosen" : ""}><th scope="row">${bar.label}${bar.gold && html`${" "}<b aria-hidden="true">★</b><${Said} text=", the right one" />`}</th>
    <td class="bar" aria-hidden="true"><i style=${{ "--share": bar.share }}></i></td><td class="number">${bar.share.toFixed(2)}</td></tr>`)}</tbody></table>`;
kinds.sentences = ({ sentences }) => html`<ol class="sentences">${sentences.map(({ text, after = [], tone = "plain", verdict, why }) => html`
  <li class=${`side-${tone}`} data-sources=${after.filter(({ kind }) => kind === "cite").map((each) => each.number).join(" ") || null}><span class="sentence" dir="auto">${text}${after.length > 0 && html`${" "}<${Words} of=${after} />`}</span>
    ${verdict && (why ? html`<details class="verdict"><summary><${Blocks} of=${[verdict]} /></summary><${Blocks} of=${why} /></details>`
      : html`<p class="verdict"><${Blocks} of=${[verdict]} /></p>`)}</li>`)}</ol>`;

// Positions count characters, which JavaScript does not do by itself.
const slicer = (text) => {
  const characters = /[\ud800-\udfff]/.test(text) ? Array.from(text) : null;
  return (start, end) => (characters ? characters.slice(start, end).join("") : text.slice(start, end));
};
// A text with marked passages.
const Marked = ({ text, spans = [] }) => {
  const slice = slicer(text);
  let done = 0;
  const pieces = spans.map(({ start, end, said }) => {
    const before = slice(done, start);
    done = end;
    return [before, html`<mark>${slice(start, end)}${said && html`<${Said} text=${` (${said})`} />`}</mark>`];
  });
  return [pieces, slice(done)];
};
kinds.text = ({ text, label, spans }) => {
  const box = useRef();
  useEffect(() => {
    const mark = box.current.querySelector("mark");
    // Scroll within the text only: the page must stay where the reader is.
    if (mark) box.current.scrollTop = Math.max(0, mark.offsetTop - 40);
  }, [text, spans]);
  return html`<div class="text" ref=${box} dir="auto" tabindex="0" role="region" aria-label=${label}><${Marked} text=${text} spans=${spans} /></div>`;
};

kinds.card = ({ title, content }) => html`<li class="card"><h4 dir="auto">${title}</h4><${Blocks} of=${content} /></li>`;
kinds.cards = ({ cards }) => html`<ul class=${`cards ${cards.length > 4 ? "many" : cards.length === 2 ? "two" : ""}`}><${Blocks} of=${cards} /></ul>`;
kinds.side = ({ title, content }) => html`<section class="side" aria-label=${title}><p class="side-title" dir="auto">${title}</p><${Blocks} of=${content} /></section>`;
kinds.sides = ({ sides }) => html`<div class="sides"><${Blocks} of=${sides} /></div>`;
kinds.fold = ({ title, content }) => html`<details class="fold"><summary>${title}</summary><${Blocks} of=${content} /></details>`;

let choices = 0;
kinds.choice = ({ label, options }) => {
  const [chosen, choose] = useState(0);
  const name = useMemo(() => `choice-${(choices += 1)}`, []);
  return html`
    ${options.length > 1 && html`<fieldset class="variants"><legend class="hidden-text">${label}</legend>${options.map(({ title }, place) => html`
      <label><input type="radio" name=${name} checked=${place === chosen} onChange=${() => choose(place)} autocomplete="off" />${" "}${title}</label>`)}</fieldset>`}
    <div key=${chosen}><${Blocks} of=${options[chosen].content} /></div>`;
};

const Source = ({ number: own, title, text, about = [], url, linked, note, spans, tone = "plain" }) => {
  const { source, times } = useContext(Opened);
  const [open, setOpen] = useState(false);
  const head = useRef();
  const wanted = source === own;
  useEffect(() => {
    if (!wanted) return;
    // Sides number their sources alike: a link leads to the one beside it, an address to the first.
    const side = document.activeElement?.closest(".side");
    if (side && !side.contains(head.current)) return;
    setOpen(true);
    head.current.focus();
    head.current.scrollIntoView({ block: "center" });
  }, [wanted, times]);
  return html`<li><details class=${`source tone-${tone}`} open=${open} onToggle=${(event) => setOpen(event.target.open)}>
    <summary ref=${head} class=${wanted ? "wanted" : ""} data-number=${own}><span class="number">[${own}]</span>${" "}<span class="title" dir="auto">${title}</span>${" "}<${Words} of=${about} /></summary>
    ${url && html`<p class="url" dir="ltr">${linked ? html`<a href=${url} rel="noreferrer noopener" target="_blank">${url}</a>` : url}</p>`}
    ${note && html`<p class="why" dir="auto">${note}</p>`}
    ${open && html`<${kinds.text} text=${text} spans=${spans} label=${`Text of source ${own}`} />`}</details></li>`;
};
kinds.sources = ({ sources }) => html`<ol class="sources">${sources.map((each) => html`<${Source} ...${each} />`)}</ol>`;
