"use strict";

// What is shown: the address behind the "#" names a view, a place in one, or an example.
//   ""                           the overview
//   "examples?experiment=..."    the list, narrowed down
//   "madam-rag/ramdocs/12"       an example; "?source=3" leads to a source of it
//   anything else                an element, in whichever view it is
(() => {
  const views = [...document.querySelectorAll("[data-view]")];
  const total = data.experiments.reduce((sum, { count }) => sum + count, 0);
  const alone = total === 1 && !document.getElementById("overview");
  const list = { query: null, hash: "#examples", found: [], scroll: 0 };
  let shown = null; // the view
  let followed = 0;

  const plain = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
  const show = (view) => {
    if (shown === "examples" && view !== shown) list.scroll = scrollY;
    for (const each of views) each.hidden = each.dataset.view !== view;
    document.body.dataset.shown = view;
    const place = view === "example" ? "examples" : view;
    for (const link of document.querySelectorAll("[data-place]")) {
      if (link.dataset.place === place) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const changed = shown !== null && shown !== view;
    shown = view;
    return changed;
  };
  const top = () => scrollTo({ top: 0, behavior: "instant" });

  const ask = (query) => {
    const wanted = Object.entries(query).filter(([, value]) => value);
    location.replace(`#examples${wanted.length ? "?" : ""}${new URLSearchParams(wanted)}`);
    // At once, not when the browser tells of the new address: a reader may type on.
    Object.assign(list, { query, hash: location.hash });
    drawList();
  };
  const drawList = () => render(html`<${examples.List} query=${list.query} ask=${ask} show=${(found) => { list.found = found; }} />`, document.getElementById("examples"));

  const openList = (query, hash) => {
    if (list.hash !== hash || !list.query) {
      Object.assign(list, { query: Object.fromEntries(new URLSearchParams(query)), hash });
      drawList();
    }
    if (!show("examples")) return;
    scrollTo({ top: list.scroll, behavior: "instant" });
    const row = document.querySelector(`.row a[href="${CSS.escape(list.opened ?? "")}"]`);
    (row ?? document.getElementById("examples-title"))?.focus({ preventScroll: true });
  };

  const openExample = async (experiment, path, query) => {
    const entries = await data.list(experiment);
    const entry = entries.find(({ address }) => plain(address) === path);
    if (!entry) return openList("", "#examples");
    const source = Number(new URLSearchParams(query).get("source")) || null;
    const another = list.opened !== `#${entry.address}`;
    list.opened = `#${entry.address}`;
    const changed = show(alone ? "overview" : "example");
    const place = document.getElementById("example");
    place.hidden = false;
    if (another) render(null, place);
    // Whoever comes by a link starts at the title; whoever opens the page starts at its top.
    const ready = (title) => { if (!source && changed) title?.focus({ preventScroll: true }); };
    if (another) top();
    render(html`<${examples.Example} key=${entry.address} entry=${entry} source=${source} times=${(followed += 1)} alone=${alone} ready=${ready} again=${go}
      around=${list.found.includes(entry) ? list.found : entries} back=${list.query ? list.hash : `#examples?experiment=${experiment.name}`} />`, place);
    return undefined;
  };

  const go = () => {
    const [path, query = ""] = location.hash.slice(1).split("?");
    const experiment = data.experiments.find(({ name }) => path.startsWith(`${name}/`));
    if (path === "examples") return openList(query, location.hash);
    if (experiment) return openExample(experiment, plain(path), query);
    if (alone && !path) return data.list(data.experiments[0]).then(([{ address }]) => openExample(data.experiments[0], plain(address), ""));
    const target = path ? document.getElementById(plain(path)) : null;
    const view = target?.closest("[data-view]")?.dataset.view ?? (target && shown) ?? "overview";
    const changed = show(view);
    for (let at = target; at; at = at.parentElement) {
      if (at instanceof HTMLDetailsElement) at.open = true;
    }
    if (target && target.id !== view) return target.scrollIntoView();
    if (changed) {
      top();
      document.querySelector(`[data-view="${view}"] h2`)?.focus({ preventScroll: true });
    }
    return undefined;
  };

  // The address stays what it is: it names what is shown.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.querySelector("[data-view]:not([hidden]) h2")?.focus();
  });
  document.querySelectorAll(".scriptless").forEach((note) => note.remove());
  addEventListener("hashchange", go);
  go();
})();
