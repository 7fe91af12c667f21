"use strict";

// The entries of a section: a form narrows them down, and one is drawn when it is first unfolded.
//   draw(place, content, id): draws an entry's stored content
//   fits(data, chosen): whether an entry with this dataset is wanted; chosen(name) is what a field
//     of the form says, "" where it has none of that name
//   searched: selectors of the parts of an entry that are searched for words
const listing = (section, { draw, fits, searched }) => {
  const open = (entry) => {
    const place = entry.querySelector(".drawn");
    const stored = document.getElementById(`${entry.id}-data`);
    if (stored && !place.childElementCount) draw(place, JSON.parse(stored.textContent), entry.id);
  };
  // "toggle" does not bubble, but it can be captured: one listener serves every entry.
  section.addEventListener("toggle", ({ target }) => {
    if (target.matches(".entry[open]")) open(target);
  }, true);
  section.querySelectorAll(".entry[open]").forEach(open);
  section.querySelectorAll(".scriptless").forEach((note) => note.remove());

  const form = section.querySelector(".filters");
  if (!form) return; // a page of one entry
  const items = [...section.querySelector(".listing").children].map((item) => ({ item, entry: item.firstElementChild, text: null }));
  const chosen = (name) => form.elements[name]?.value ?? "";
  const apply = () => {
    const words = chosen("text").toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const each of items) {
      let keep = fits(each.entry.dataset, chosen);
      if (keep && words.length) {
        each.text ??= searched.map((part) => each.entry.querySelector(part)?.textContent ?? "").join("\n").toLowerCase();
        keep = words.every((word) => each.text.includes(word));
      }
      each.item.hidden = !keep;
      count += keep;
    }
    form.querySelector("output").textContent = `${count.toLocaleString("en")} of ${items.length.toLocaleString("en")}`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  // Not before: a browser that goes back restores the choices of the form when all has run.
  addEventListener("pageshow", apply);
};
