"use strict";

// Shades one text by what a word of the other rests on, and marks parts from a threshold on.
(() => {
  const LEVELS = 10;
  const CELL = 65535;
  const LOWEST = -3;  // powers of ten, as the cells were made
  const decoded = (id) => {
    const text = atob(JSON.parse(document.getElementById(id).textContent));
    return new Uint16Array(Uint8Array.from(text, (character) => character.charCodeAt(0)).buffer);
  };
  const percent = (cell) => {
    if (cell === 0) return "less than 0.1 %";
    const share = 100 * 10 ** (LOWEST * (1 - cell / CELL));
    return `${share < 10 ? share.toFixed(1) : share.toFixed(0)} %`;
  };
  for (const map of document.querySelectorAll("[data-heatmap]")) {
    const columns = Number(map.dataset.columns);
    const units = { row: [...map.querySelectorAll("[data-row]")], column: [...map.querySelectorAll("[data-column]")] };
    const said = map.querySelector(".said-of");
    const before = said.textContent;
    let cells = null;
    const cell = (row, column) => cells[row * columns + column];
    const levelOf = (value) => Math.min(LEVELS - 1, Math.floor(value / CELL * LEVELS));
    const shade = (unit, level) => {
      unit.dataset.rest ??= [...unit.classList].find((name) => name.startsWith("heat-")) ?? "";
      for (const name of [...unit.classList]) if (name.startsWith("heat-")) unit.classList.remove(name);
      const name = level === null ? unit.dataset.rest : `heat-${level}`;
      if (name) unit.classList.add(name);
    };
    const show = (axis, unit) => {
      cells ??= decoded(map.dataset.heatmap);
      const other = axis === "row" ? "column" : "row";
      const place = Number(unit.dataset[axis]);
      const value = (each) => {
        const there = Number(each.dataset[other]);
        return axis === "row" ? cell(place, there) : cell(there, place);
      };
      let best = null;
      for (const each of units[other]) {
        shade(each, levelOf(value(each)));
        if (best === null || value(each) > value(best)) best = each;
      }
      for (const each of units[axis]) shade(each, each === unit ? LEVELS - 1 : 0);
      if (best === null) return;
      said.textContent = axis === "column"
        ? `“${unit.textContent}” rests on “${best.textContent}” most, with ${percent(value(best))} of its salience.`
        : `“${unit.textContent}” gives most to “${best.textContent}”: ${percent(value(best))} of what that rests on.`;
    };
    const rest = () => {
      for (const axis of ["row", "column"]) for (const each of units[axis]) shade(each, null);
      said.textContent = before;
    };
    for (const axis of ["row", "column"]) {
      for (const unit of units[axis]) {
        for (const event of ["mouseenter", "focus"]) unit.addEventListener(event, () => show(axis, unit));
        for (const event of ["mouseleave", "blur"]) unit.addEventListener(event, rest);
      }
    }
    const slider = map.querySelector("input[type=range]");
    slider?.addEventListener("input", () => {
      map.querySelector("output").textContent = `${(100 - slider.value).toFixed(1)} %`;
      for (const part of map.querySelectorAll(".part[data-error]")) {
        part.classList.toggle("marked", part.dataset.error * 100 >= Number(slider.value));
      }
    });
  }
})();
