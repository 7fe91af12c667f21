"use strict";

// The list of all examples with what narrows it down, and one example, opened.
const examples = (() => {
  const DRAWN = 60; // rows at first, and more whenever the end comes into sight
  const known = ["experiment", "run", "status", "text", "order"];
  const experimentOf = ({ experiment }) => data.experiments.find(({ name }) => name === experiment)
    ?? (data.experiments.length === 1 ? data.experiments[0] : null);
  const nameOfRun = ({ experiment, run }) => experiment.runs[run] ?? run;
  const searched = (entry) => (entry.lower ??= [entry.title, entry.id, nameOfRun(entry), ...entry.about, entry.words].join("\n").toLowerCase());

  const narrowed = (entries, query) => {
    const words = (query.text ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const facets = Object.entries(query).filter(([name, value]) => value && !known.includes(name));
    const kept = entries.filter((entry) => (!query.run || entry.run === query.run)
      && (!query.status || entry.status === query.status)
      && facets.every(([name, value]) => entry.facets[name]?.includes(value))
      && (!words.length || words.every((word) => searched(entry).includes(word))));
    const sorted = experimentOf(query)?.facets.find(({ name }) => query.order === `by ${name}`);
    if (sorted) {
      const places = new Map(sorted.values.map((value, place) => [value, place]));
      const rank = (entry) => places.get(entry.facets[sorted.name]?.[0]) ?? Infinity;
      return kept.sort((one, other) => rank(one) - rank(other) || one.place - other.place);
    }
    const [, figure, down] = query.order?.match(/^(.*), (high|low) first$/) ?? [];
    if (!figure) return kept;
    // What has no such figure comes last, whichever way the figures run.
    const value = ({ figures }) => (figures[figure] ?? null) === null ? Infinity : figures[figure] * (down === "high" ? -1 : 1);
    return kept.sort((one, other) => value(one) - value(other) || one.place - other.place);
  };

  const Options = ({ of }) => of.map((each) => html`<option value=${each.value ?? each}>${each.label ?? each}</option>`);
  const Field = ({ label, name = label, any = "any", query, change, children }) => html`
    <label>${label}${" "}<select name=${name} value=${query[name] ?? ""} onChange=${(event) => change(name, event.target.value)}><option value="">${any}</option>${children}</select></label>`;
  const Facet = ({ facet, occurring, ...field }) => {
    const offered = (group) => facet.values.map((value) => ({ label: value, value: group ? `${group}: ${value}` : value })).filter(({ value }) => occurring.has(value));
    return html`<${Field} label=${facet.name} ...${field}>${facet.groups.length
      ? facet.groups.map((group) => html`<optgroup label=${group}><${Options} of=${offered(group)} /></optgroup>`)
      : html`<${Options} of=${offered("")} />`}<//>`;
  };

  const Filters = ({ query, change, entries, experiment, found }) => {
    const seen = useMemo(() => {
      const facets = new Map((experiment?.facets ?? []).map(({ name }) => [name, new Set()]));
      const [runs, statuses, figures] = [new Set(), new Set(), new Set()];
      for (const entry of entries) {
        runs.add(entry.run);
        statuses.add(entry.status);
        Object.keys(entry.figures).forEach((name) => figures.add(name));
        for (const [name, values] of facets) entry.facets[name]?.forEach((value) => values.add(value));
      }
      return { facets, runs: [...runs], statuses: [...statuses], figures: [...figures] };
    }, [entries, experiment]);
    const field = { query, change };
    const offered = experiment?.facets.filter(({ name }) => seen.facets.get(name)?.size > 1) ?? [];
    const orders = experiment ? [
      ...seen.figures.flatMap((name) => [`${name}, high first`, `${name}, low first`]),
      ...offered.filter(({ groups }) => !groups.length).map(({ name }) => `by ${name}`),
    ] : [];
    return html`<form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>
      <label class="wide">Find${" "}<input type="search" value=${query.text ?? ""} onInput=${(event) => change("text", event.target.value)} placeholder="Words of a question, answer or name" autocomplete="off" /></label>
      ${data.experiments.length > 1 && html`<${Field} label="Experiment" name="experiment" any="all" ...${field}>
        <${Options} of=${data.experiments.filter(({ count }) => count).map(({ name, title }) => ({ value: name, label: title }))} /><//>`}
      ${experiment && seen.runs.length > 1 && html`<${Field} label="Run" name="run" any="all" ...${field}>
        <${Options} of=${seen.runs.map((run) => ({ value: run, label: experiment.runs[run] ?? run }))} /><//>`}
      ${seen.statuses.length > 1 && html`<${Field} label="Status" name="status" ...${field}><${Options} of=${seen.statuses} /><//>`}
      ${offered.map((facet) => html`<${Facet} facet=${facet} occurring=${seen.facets.get(facet.name)} ...${field} />`)}
      ${orders.length > 0 && html`<${Field} label="Order" name="order" any="as in the data" ...${field}><${Options} of=${orders} /><//>`}
      <output class="note" aria-live="polite">${number(found)} of ${number(entries.length)}</output>
    </form>`;
  };

  const Row = ({ entry, several }) => html`<li class="row">
    <a class="title" href=${`#${entry.address}`} dir="auto">${entry.title}</a>
    <p class="about">${several && html`<span>${entry.experiment.title}</span>`}<span dir="auto">${entry.id}</span>
      ${Object.keys(entry.experiment.runs).length > 1 && html`<span dir="auto">${nameOfRun(entry)}</span>`}${entry.about.map((each) => html`<span dir="auto">${each}</span>`)}</p>
    ${entry.chips.length > 0 && html`<p class="chips"><${Words} of=${entry.chips} /></p>`}
    ${Object.keys(entry.figures).length > 0 && html`<dl class="scores">${Object.entries(entry.figures).map(([name, value]) => html`
      <div><dt>${name}</dt><dd>${value === null ? "–" : Number.isInteger(value) && value > 1 ? number(value) : value.toFixed(2)}</dd></div>`)}</dl>`}</li>`;

  // What the signs of chips mean, each once.
  const Legend = ({ of }) => {
    const signs = of.flatMap(({ chips }) => chips).filter(({ sign, said }) => sign && said);
    const meant = new Map(signs.map((chip) => [chip.sign + chip.said, { ...chip, text: chip.said, said: "" }]));
    return meant.size > 0 && html`<p class="chips legend"><${Words} of=${[...meant.values()]} /></p>`;
  };

  // The end of what is drawn: pressed by hand, or by itself when it comes near.
  const More = ({ more }) => {
    const button = useRef();
    useEffect(() => {
      const watcher = new IntersectionObserver((seen) => seen.some(({ isIntersecting }) => isIntersecting) && more(), { rootMargin: "1200px" });
      watcher.observe(button.current);
      return () => watcher.disconnect();
    });
    return html`<button type="button" class="show-more" ref=${button} onClick=${more}>Show more</button>`;
  };

  // `show` is told what the list holds, so that an opened example knows its neighbours.
  const List = ({ query, ask, show }) => {
    const experiment = experimentOf(query);
    const [entries, setEntries] = useState(null);
    const [drawn, setDrawn] = useState(DRAWN);
    useEffect(() => {
      let wanted = true;
      Promise.all((experiment ? [experiment] : data.experiments).map(data.list)).then((lists) => {
        if (wanted) setEntries(lists.flat());
        setTimeout(() => lists.flat().forEach(searched)); // so that the first search is as fast as others
      });
      return () => { wanted = false; };
    }, [experiment]);
    const found = useMemo(() => (entries ? narrowed(entries, query) : []), [entries, query]);
    useEffect(() => { setDrawn(DRAWN); show(found); }, [found]);
    const change = (name, value) => ask(name === "experiment"
      ? { experiment: value, text: query.text }
      : { ...query, experiment: experiment?.name, [name]: value });
    if (!entries) return null;
    return html`
      <h2 id="examples-title" tabindex="-1">${experiment ? `${experiment.title}: ${experiment.noun[1]}` : "Examples"}</h2>
      <${Filters} query=${query} change=${change} entries=${entries} experiment=${experiment} found=${found.length} />
      <${Legend} of=${entries} />
      <ol class="rows">${found.slice(0, drawn).map((entry) => html`<${Row} key=${entry.address} entry=${entry} several=${!experiment} />`)}</ol>
      ${drawn < found.length && html`<${More} more=${() => setDrawn(drawn + 2 * DRAWN)} />`}
      ${!found.length && html`<p>No example is like this.</p>`}`;
  };

  const Step = ({ to, rel, children }) => (to ? html`<a rel=${rel} href=${`#${to.address}`} title=${to.title}>${children}</a>` : html`<span class="nothing">${children}</span>`);
  const Example = ({ entry, source, times, around, back, alone, ready, again }) => {
    const [blocks, setBlocks] = useState(null);
    const root = useRef();
    const title = useRef();
    useEffect(() => { data.blocks(entry).then(setBlocks); }, [entry]);
    useEffect(() => { if (blocks) ready(title.current); }, [blocks]);
    const pointed = ({ target }) => light(root.current, target);
    // A link to where the reader is already is followed, too: a source may have been closed.
    const follow = ({ target }) => { if (target.closest("a[data-source]")?.getAttribute("href") === location.hash) again(); };
    const place = around.indexOf(entry);
    return html`<div class="opened" ref=${root} onClick=${follow} onPointerOver=${pointed} onfocusin=${pointed}>
      ${!alone && html`<nav class="steps" aria-label="Example"><a href=${back}>← ${entry.experiment.title}: ${entry.experiment.noun[1]}</a>
        <span class="note">${place < 0 ? "" : `${number(place + 1)} of ${number(around.length)}`}</span>
        <${Step} rel="prev" to=${around[place - 1]}>Previous<//><${Step} rel="next" to=${place < 0 ? null : around[place + 1]}>Next<//></nav>
        <h2 ref=${title} tabindex="-1" dir="auto">${entry.title}</h2>
        <p class="about"><span dir="auto">${entry.id}</span>${nameOfRun(entry) && html`<span dir="auto">${nameOfRun(entry)}</span>`}${entry.about.map((each) => html`<span dir="auto">${each}</span>`)}</p>`}
      <${Opened.Provider} value=${{ address: entry.address, source, times }}>${blocks && html`<${Blocks} of=${blocks} />`}<//></div>`;
  };

  return Object.freeze({ List, Example });
})();
