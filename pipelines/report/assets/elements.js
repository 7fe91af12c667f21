"use strict";

// What the scripts of sections make elements with. Text goes in as text nodes only; nothing here
// ever parses HTML.
const elements = (() => {
  const LONG = 170; // characters of an explanation that stay unfolded

  // Children may be lists of children; null, undefined and "" are none.
  const append = (element, ...children) => {
    element.append(...children.flat(Infinity).filter((child) => (child ?? "") !== ""));
    return element;
  };
  const filled = (element, properties, children) => {
    for (const [name, value] of Object.entries(properties)) {
      if ((value ?? false) !== false) element.setAttribute(name, value === true ? "" : value);
    }
    return append(element, children);
  };
  const make = (tag, properties = {}, ...children) => filled(document.createElement(tag), properties, children);
  const draw = (tag, properties = {}, ...children) => filled(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

  // One for the eye and one for the ear.
  const sign = (text) => make("b", { "aria-hidden": "true" }, text);
  const said = (text) => make("span", { class: "hidden-text" }, text);

  const folded = (text) => {
    if (!text) return null;
    const whole = make("p", { class: "why", dir: "auto" }, text);
    if (text.length <= LONG) return whole;
    const start = `${text.slice(0, LONG - 30).replace(/[\s,;:.]+\S*$/, "")}…`;
    return make("details", { class: "folded" },
      make("summary", { dir: "auto" }, make("span", { class: "start" }, start), " ", make("span", { class: "more" }, "all of it"), make("span", { class: "less" }, "less of it")),
      whole);
  };
  // Why a reply could not be read, and the reply.
  const unread = ({ problem, raw }) => problem
    ? [make("p", { class: "why", dir: "auto" }, problem),
      raw ? make("details", { class: "reply" }, make("summary", {}, "Reply as it came"), make("pre", { class: "raw", dir: "auto", tabindex: "0" }, raw)) : null]
    : null;

  return Object.freeze({ append, make, draw, sign, said, folded, unread });
})();
