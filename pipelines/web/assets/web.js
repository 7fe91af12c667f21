"use strict";

// The page: a form for a task, the list of jobs, and one job opened. The address behind the "#"
// says what is shown: "" the form, "job/ID" a job, "job/ID?source=3" a source of what it found.
(() => {
  const EXAMPLE = {
    question: "When was the bridge opened?",
    query: "The bridge was opened in 1932.",
    claim: "The bridge was opened in 1932.",
    response: "The bridge was opened in 1932. It is built of steel.",
    prompt: "The guide says that the bridge was opened by the mayor in 1932. The bridge was opened in",
    documents: [
      { name: "guide", text: "The bridge was opened by the mayor in 1932. It is built of steel." },
      { name: "study", text: "The bridge was not opened in 1932: it was opened in May 1936, after four years of delay." },
    ],
  };
  const EXAMPLES = { // of tasks that ask for other texts under the same names
    "answer-npov": { query: "Should zoos be closed?" },
    "check-npov": {
      question: "Should pupils wear school uniforms?",
      pro: "Uniforms hide differences in family income.\nGetting dressed in the morning takes less time.",
      con: "Clothes are a way for teenagers to express themselves.\nFamilies must buy a second wardrobe that is worn nowhere else.",
      response: "Supporters say that uniforms hide differences in family income. On the other side, opponents point out that clothes are a way for teenagers to express themselves. They add that families must buy a second wardrobe. Critics also warn that scratchy fabric irritates sensitive skin.",
    },
  };
  const STATES = {
    queued: ["waiting", "plain", "…"], running: ["under way", "outline", "▸"], done: ["done", "support", "✓"],
    failed: ["failed", "invalid", "!"], cancelled: ["cancelled", "plain", "×"],
  };
  const under = ({ state }) => state === "queued" || state === "running";
  const timeOf = ({ created }) => new Date(created).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

  const api = async (path, options) => {
    const response = await fetch(`/api/${path}`, options).catch(() => { throw new Error("the server does not answer; start contested web again"); });
    if (response.ok) return response.status === 204 ? null : response.json();
    const told = await response.json().catch(() => ({}));
    throw new Error(told.detail ?? `the server answers ${response.status}`);
  };
  const post = (path, body) => api(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const textsOf = async (files) => {
    const found = [];
    for (const file of files) found.push(...await api(`documents?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file }));
    return found;
  };

  const Trouble = ({ text }) => html`<p class="trouble" role="alert">${text}</p>`;
  const State = ({ job }) => {
    const [text, tone, sign] = STATES[job.state];
    return html`<${kinds.chip} text=${text} tone=${tone} sign=${sign} />`;
  };

  // Files may be dropped on what takes texts.
  const dropping = (take) => ({
    onDragOver: (event) => event.preventDefault(),
    onDrop: (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      take([...event.dataTransfer.files]);
    },
  });

  const Texts = ({ field, texts, change, attempt }) => {
    const { name, label, kind } = field;
    const hint = kind === "lines" ? "Each on a line of its own." : "";
    const id = `field-${name}`;
    const own = { id, value: texts[name] ?? "", required: true, onInput: (event) => change({ [name]: event.target.value }), "aria-describedby": hint ? `${id}-hint` : null, autocomplete: "off", dir: "auto" };
    const take = (files) => attempt(async () => change({ [name]: (await textsOf(files)).map(({ text }) => text).join("\n\n") }));
    return html`<div class="field"><label for=${id}>${label}</label>${hint && html`<p class="note" id=${`${id}-hint`}>${hint}</p>`}
      ${kind === "line" ? html`<input type="text" ...${own} />` : html`<textarea rows="6" ...${own} ...${dropping(take)}></textarea>`}</div>`;
  };

  let made = 0;
  const emptyDocument = (fields = {}) => ({ key: (made += 1), name: "", text: "", ...fields });
  const Documents = ({ field, setting, documents, change, attempt }) => {
    const list = useRef();
    const edit = (place, fields) => change(documents.map((each, at) => (at === place ? { ...each, ...fields } : each)));
    const take = (files) => attempt(async () => {
      const found = await textsOf(files);
      change([...documents.filter(({ text }) => text.trim()), ...found.map((each) => emptyDocument(each))]);
    });
    const add = () => { change([...documents, emptyDocument()]); setTimeout(() => list.current.querySelector("li:last-child textarea").focus()); };
    const remove = (place) => { change(documents.filter((_, at) => at !== place)); list.current.focus(); };
    return html`<fieldset class="field documents" ...${dropping(take)}><legend>${field.label}</legend>
      <p class="note">Paste them, or drop or choose files: ${setting.files.join(", ")}.</p>
      <ol ref=${list} tabindex="-1">${documents.map((each, place) => html`<li key=${each.key}>
        <div><input type="text" value=${each.name} placeholder=${`document ${place + 1}`} maxlength="200" aria-label=${`Name of document ${place + 1}`} onInput=${(event) => edit(place, { name: event.target.value })} autocomplete="off" dir="auto" />
          ${documents.length > 1 && html`<button type="button" class="quiet" aria-label=${`Remove document ${place + 1}`} onClick=${() => remove(place)}>Remove</button>`}</div>
        <textarea rows="4" value=${each.text} required aria-label=${`Text of document ${place + 1}`} onInput=${(event) => edit(place, { text: event.target.value })} dir="auto"></textarea></li>`)}</ol>
      <p class="line"><button type="button" onClick=${add}>Add a document</button>
        <input type="file" multiple aria-label="Files with documents" accept=${setting.files.join(",")} onChange=${(event) => { take([...event.target.files]); event.target.value = ""; }} /></p></fieldset>`;
  };

  // Why something is not to be had stands once below the tasks: mostly it is one model for all.
  const reasons = ({ tasks }) => [...new Set(tasks.flatMap(({ lacks, choices }) => [lacks, ...choices.flatMap(({ values }) => values.map((each) => each.lacks))]).filter(Boolean))];
  const Tasks = ({ setting, chosen, choose }) => {
    const lacking = reasons(setting);
    return html`<fieldset class="tasks"><legend>What to do</legend>
      ${setting.tasks.map(({ task, title, help, lacks }) => html`<label class=${lacks ? "lacking" : ""}>
        <input type="radio" name="task" value=${task} checked=${task === chosen} disabled=${Boolean(lacks)} aria-describedby=${lacks ? `lacks-${lacking.indexOf(lacks)}` : null} onChange=${() => choose(task)} autocomplete="off" />
        <span><strong>${title}</strong>${" "}<span class="note">${help}</span></span></label>`)}</fieldset>
      ${lacking.map((why, place) => html`<p class="note lacks" id=${`lacks-${place}`} dir="auto">The grey options are unavailable: ${why}.</p>`)}`;
  };

  const Choices = ({ choices, values, change }) => html`<div class="choices">${choices.map(({ name, label, hint, values: offered }) => html`
    <div class="field"><label for=${`choice-${name}`}>${label}</label>
      <select id=${`choice-${name}`} aria-describedby=${`choice-${name}-hint`} value=${String(values[name])} onChange=${(event) => change({ [name]: offered[event.target.selectedIndex].value })} autocomplete="off">
        ${offered.map((each) => html`<option value=${String(each.value)} disabled=${Boolean(each.lacks)}>${each.value}</option>`)}</select>
      <p class="note" id=${`choice-${name}-hint`}>${hint}</p></div>`)}</div>`;

  const Form = ({ setting, draft, change }) => {
    const [trouble, setTrouble] = useState("");
    const [busy, setBusy] = useState(false);
    const offer = setting.tasks.find(({ task }) => task === draft.task);
    const values = Object.fromEntries(offer.choices.map(({ name, usual }) => [name, draft.choices[name] ?? usual]));
    const attempt = async (work) => {
      setTrouble("");
      setBusy(true);
      try { await work(); } catch (error) { setTrouble(error.message); }
      setBusy(false);
    };
    const run = (event) => {
      event.preventDefault();
      attempt(async () => {
        const given = Object.fromEntries(offer.fields.map(({ name, kind }) => [name, kind === "documents"
          ? draft.documents.map((each, place) => ({ name: each.name.trim() || `document ${place + 1}`, text: each.text })) : draft.texts[name] ?? ""]));
        const job = await post("jobs", { task: draft.task, ...given, ...values });
        location.hash = `job/${job.id}`;
      });
    };
    const quick = (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit(); };
    const example = () => change({ texts: { ...EXAMPLE, ...EXAMPLES[draft.task], documents: undefined }, documents: EXAMPLE.documents.map((each) => emptyDocument(each)) });
    return html`<form class="asking" onSubmit=${run} onKeyDown=${quick} aria-label="A new job">
      <${Tasks} setting=${setting} chosen=${draft.task} choose=${(task) => change({ task, choices: {} })} />
      <div class="fields">
        ${offer.fields.map((field) => (field.kind === "documents"
          ? html`<${Documents} field=${field} setting=${setting} documents=${draft.documents} change=${(documents) => change({ documents })} attempt=${attempt} />`
          : html`<${Texts} key=${field.name} field=${field} texts=${draft.texts} change=${(texts) => change({ texts: { ...draft.texts, ...texts } })} attempt=${attempt} />`))}
        <${Choices} choices=${offer.choices} values=${values} change=${(choices) => change({ choices: { ...draft.choices, ...choices } })} />
        ${trouble && html`<${Trouble} text=${trouble} />`}
        <p class="line"><button type="submit" class="main" disabled=${busy || Boolean(offer.lacks)}>Run</button><button type="button" onClick=${example}>Fill in an example</button>
          <span class="note">Ctrl+Enter runs it. In a terminal: <code>contested ${offer.task}</code></span></p>
      </div></form>`;
  };

  const cancel = (job) => post(`jobs/${job.id}/cancel`);
  const remove = (job) => api(`jobs/${job.id}`, { method: "DELETE" });
  const List = ({ jobs, titles }) => html`<section class="jobs" aria-labelledby="jobs-title"><h2 id="jobs-title">Jobs</h2>
    ${jobs.length ? html`<ol class="rows">${jobs.map((job) => html`<li class="row" key=${job.id}>
      <a class="title" href=${`#job/${job.id}`} dir="auto">${job.subject}</a>
      <p class="about"><span>${titles.get(job.task) ?? job.task}</span><span>${timeOf(job)}</span></p>
      <p class="line"><${State} job=${job} />${" "}<span class="aside" dir="auto">${job.state === "failed" ? job.error : job.progress}</span></p>
      <p class="act">${under(job) ? html`<button type="button" class="quiet" aria-label=${`Cancel: ${job.subject}`} onClick=${() => cancel(job)}>Cancel</button>`
        : html`<button type="button" class="quiet" aria-label=${`Remove: ${job.subject}`} onClick=${() => remove(job)}>Remove</button>`}</p></li>`)}</ol>`
      : html`<p class="note">None yet. They are kept, and done one after the other.</p>`}</section>`;

  const Opening = ({ job, title, source, times, again, reuse }) => {
    const [found, setFound] = useState(null);
    const [trouble, setTrouble] = useState("");
    const root = useRef();
    const head = useRef();
    useEffect(() => { if (!source) head.current.focus({ preventScroll: true }); }, [job.id]);
    useEffect(() => {
      if (job.state === "done") api(`jobs/${job.id}/found`).then(setFound, (error) => setTrouble(error.message));
    }, [job.id, job.state]);
    const follow = ({ target }) => { if (target.closest("a[data-source]")?.getAttribute("href") === location.hash) again(); };
    const pointed = ({ target }) => light(root.current, target);
    return html`<article class="opened" ref=${root} onClick=${follow} onPointerOver=${pointed} onfocusin=${pointed}>
      <nav class="steps" aria-label="Job"><a href="#">← A new job</a><button type="button" class="quiet" onClick=${() => reuse(job).catch((error) => setTrouble(error.message))}>Change and run again</button></nav>
      <h2 ref=${head} tabindex="-1" dir="auto">${job.subject}</h2>
      <p class="about"><span>${title}</span><span>${timeOf(job)}</span></p>
      <p class="line" role="status"><${State} job=${job} />${" "}<span class="aside" dir="auto">${job.progress}</span>${under(job) && html`${" "}<button type="button" onClick=${() => cancel(job)}>Cancel</button>`}</p>
      ${job.error && html`<${kinds.trouble} title="Failed" text=${job.error} />`}
      ${trouble && html`<${Trouble} text=${trouble} />`}
      ${found && html`<${Opened.Provider} value=${{ address: `job/${job.id}`, source, times }}><${Blocks} of=${found.blocks} /><//>
        <h3>How it was found</h3>
        <ul class="models" aria-label="Models">${found.models.map(({ role, name, digest }) => html`<li><span class="role">${role}</span>${" "}<strong dir="auto">${name}</strong>${" "}
          ${digest ? html`<code class="digest" title=${`SHA-256 of the model: ${digest}`}>${digest.slice(0, 12)}</code>` : html`<span class="digest">weights not known</span>`}</li>`)}</ul>
        <p class="note" dir="auto">${found.cost}</p>
        <p class="line"><a href=${`/api/jobs/${job.id}/page`} download>Save as a page</a>${" "}<a href=${`/api/jobs/${job.id}/found`} download=${`${job.id}.json`}>Save as JSON</a></p>`}</article>`;
  };

  const addressed = () => {
    const [path, query = ""] = location.hash.slice(1).split("?");
    return { id: path.startsWith("job/") ? path.slice(4) : null, source: Number(new URLSearchParams(query).get("source")) || null };
  };

  const Page = ({ setting }) => {
    const first = setting.tasks.find(({ lacks }) => !lacks) ?? setting.tasks[0];
    const [draft, setDraft] = useState({ task: first.task, texts: {}, choices: {}, documents: [emptyDocument(), emptyDocument()] });
    const [jobs, setJobs] = useState(null);
    const [lost, setLost] = useState(false);
    const [place, setPlace] = useState({ ...addressed(), times: 0 });
    const change = (fields) => setDraft((present) => ({ ...present, ...fields }));
    const go = () => setPlace((present) => ({ ...addressed(), times: present.times + 1 }));
    useEffect(() => {
      addEventListener("hashchange", go);
      const events = new EventSource("/api/events");
      let anew = true;
      events.onopen = () => { anew = true; setLost(false); };
      events.onerror = () => setLost(true);
      events.onmessage = ({ data }) => {
        const changes = JSON.parse(data);
        const before = !anew;
        anew = false;
        setJobs((present) => {
          const kept = new Map(before ? present : []);
          changes.jobs.forEach((job) => kept.set(job.id, job));
          changes.removed.forEach((id) => kept.delete(id));
          return kept;
        });
      };
      addEventListener("pagehide", () => events.close());
    }, []);
    const titles = useMemo(() => new Map(setting.tasks.map(({ task, title }) => [task, title])), [setting]);
    const reuse = async (job) => {
      const { task, documents, ...fields } = await api(`jobs/${job.id}/asked`);
      const choices = setting.tasks.find((each) => each.task === task).choices.map(({ name }) => name); // null: as usual
      const taken = (wanted) => Object.fromEntries(Object.entries(fields).filter(([name]) => choices.includes(name) === wanted));
      change({ task, choices: taken(true), texts: { ...draft.texts, ...taken(false) }, ...(documents && { documents: documents.map((each) => emptyDocument(each)) }) });
      location.hash = "";
    };
    if (jobs === null) return lost && html`<${Trouble} text="The server does not answer; start contested web again." />`;
    const job = jobs.get(place.id);
    const shown = job ? html`<${Opening} key=${job.id} job=${job} title=${titles.get(job.task) ?? job.task} source=${place.source} times=${place.times} again=${go} reuse=${reuse} />`
      : html`${place.id && html`<${Trouble} text="There is no such job; it may have been removed." />`}
        <div class="desk"><${Form} setting=${setting} draft=${draft} change=${change} />
        <${List} jobs=${[...jobs.values()].sort((one, other) => (one.id < other.id ? 1 : -1))} titles=${titles} /></div>`;
    return html`${lost && html`<${Trouble} text="The server does not answer; start contested web again, and open the address that it prints." />`}${shown}`;
  };

  const content = document.getElementById("content");
  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); content.focus(); });
  api("setting").then((setting) => render(html`<${Page} setting=${setting} />`, content), (error) => render(html`<${Trouble} text=${error.message} />`, content));
})();
