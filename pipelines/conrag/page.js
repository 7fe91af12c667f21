"use strict";

// Points from a sentence to the passages that it cites, and opens the table where one is asked for.
(() => {
  const numbered = [...document.querySelectorAll("[data-number]")];
  const light = (numbers) => {
    for (const element of numbered) element.classList.toggle("lit", numbers.has(element.dataset.number));
  };
  for (const sentence of document.querySelectorAll("[data-cites]")) {
    const numbers = new Set(sentence.dataset.cites.split(" ").filter(Boolean));
    for (const event of ["mouseenter", "focus"]) sentence.addEventListener(event, () => light(numbers));
    for (const event of ["mouseleave", "blur"]) sentence.addEventListener(event, () => light(new Set()));
  }
  const table = document.querySelector("details.evidence");
  for (const link of document.querySelectorAll("a.cite")) {
    link.addEventListener("click", () => { table.open = true; });
  }
})();
