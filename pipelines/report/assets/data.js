"use strict";

// The data in the page: a list of examples per experiment, and chunks of blocks and of texts, each
// read when it is wanted (`Packed` in explorer.py).
const data = (() => {
  const contents = JSON.parse(document.getElementById("contents").textContent);
  // The chunks follow the script: the page is drawn before all of them are there.
  const loaded = new Promise((resolve) => {
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", resolve);
    else resolve();
  });

  const inflated = async (id) => {
    await loaded;
    const packed = atob(document.getElementById(id).textContent);
    const bytes = new Uint8Array(packed.length);
    for (let place = 0; place < packed.length; place += 1) bytes[place] = packed.charCodeAt(place);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  const chunks = new Map();
  const read = (id) => {
    if (!chunks.has(id)) chunks.set(id, inflated(id));
    return chunks.get(id);
  };
  const chunkOf = (starts, number) => starts.findLastIndex((start) => start <= number);

  // Each {"$": number} is a text that is stored apart.
  const referred = (value, found = new Set()) => {
    if (typeof value !== "object" || value === null) return found;
    if (!Array.isArray(value) && "$" in value) found.add(value.$);
    else for (const each of Object.values(value)) referred(each, found);
    return found;
  };
  const filled = (value, texts) => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((each) => filled(each, texts));
    if ("$" in value) return texts.get(value.$);
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, texts)]));
  };

  const lists = new Map();
  const list = (experiment) => {
    if (!lists.has(experiment)) {
      lists.set(experiment, read(`${experiment.name}-list`).then((entries) => entries.map((entry, place) => ({
        run: "", about: [], chips: [], facets: {}, figures: {}, words: "", ...entry, experiment, place,
      }))));
    }
    return lists.get(experiment);
  };
  const blocks = async ({ experiment, place }) => {
    const chunk = chunkOf(experiment.starts, place);
    const own = (await read(`${experiment.name}-blocks-${chunk}`))[place - experiment.starts[chunk]];
    const texts = new Map();
    for (const number of referred(own)) {
      const at = chunkOf(contents.texts, number);
      texts.set(number, (await read(`texts-${at}`))[number - contents.texts[at]]);
    }
    return filled(own, texts);
  };

  return Object.freeze({ experiments: contents.experiments, list, blocks });
})();
