// A person labels one item after the other; each label is kept before the next item is shown.
"use strict";
const $ = (id) => document.getElementById(id);
const HEADLINES = ["Question", "Claim", "Sentence"]; // what is shown large, unless it is long

let contents, at = 0, busy = false;
const given = new Map(); // place of an item -> its label
const changes = []; // of this sitting and those before: [place, the label it had before]

function element(kind, text, name) {
  const made = document.createElement(kind);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}

function show() {
  const { items, labels } = contents;
  const sections = items[at].map(([heading, text]) => {
    const section = element("section", undefined, HEADLINES.includes(heading) && text.length < 300 ? "short" : "long");
    const body = element("p", text, "text");
    body.dir = "auto";
    section.append(element("h2", heading), body);
    return section;
  });
  $("item").replaceChildren(...sections);
  [...$("choices").children].forEach((button, n) =>
    button.setAttribute("aria-pressed", String(given.get(at) === labels[n][0])));
  $("place").textContent = `${at + 1} of ${items.length}`;
  $("done").textContent = given.size === items.length ? "all labelled" : `${given.size} labelled`;
  $("progress").value = given.size / items.length;
  scrollTo(0, 0);
}

function say(text, failed = false) {
  $("said").textContent = text;
  $("said").classList.toggle("failed", failed);
}

async function keep(place, label) {
  const body = JSON.stringify({ item: place, label });
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch("/label", { method: "POST", headers, body }).catch(() => null);
  if (!answer || !answer.ok) {
    say(answer ? `Not kept: ${await answer.text()}` : "Not kept: `contested annotate` has ended. Start it again.", true);
    return false;
  }
  if (label === null) given.delete(place);
  else given.set(place, label);
  return true;
}

// Keys that are pressed while a label is under way are not lost: they wait for their turn.
const waiting = [];
async function act(action) {
  waiting.push(action);
  if (busy) return;
  busy = true;
  while (waiting.length) await waiting.shift()();
  busy = false;
}

const move = (step) => () => {
  at = Math.min(Math.max(at + step, 0), contents.items.length - 1);
  say("");
  show();
};

const choose = (n) => async () => {
  const before = given.get(at) ?? null;
  if (!(await keep(at, contents.labels[n][0]))) return;
  changes.push([at, before]);
  say(given.size === contents.items.length ? "That was the last one. Press Ctrl-C in the terminal." : "Kept");
  if (at < contents.items.length - 1) at += 1;
  show();
};

async function undo() {
  if (!changes.length) return say("Nothing to undo");
  const [place, before] = changes[changes.length - 1];
  if (!(await keep(place, before))) return;
  changes.pop();
  at = place;
  say("Taken back");
  show();
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const n = Number(event.key) - 1;
  if (n >= 0 && n < contents.labels.length) act(choose(n));
  else if (event.key === "ArrowRight") act(move(1));
  else if (event.key === "ArrowLeft") act(move(-1));
  else if (event.key === "u" || event.key === "Backspace") act(undo);
  else return;
  event.preventDefault();
}

async function start() {
  const answer = await fetch("/contents").catch(() => null);
  if (!answer || !answer.ok) return say("The items cannot be had; open the address in the terminal again.", true);
  contents = await answer.json();
  for (const [place, label] of contents.given) {
    given.set(place, label);
    changes.push([place, null]);
  }
  const free = contents.items.findIndex((_, place) => !given.has(place));
  at = free < 0 ? contents.items.length - 1 : free;
  $("who").textContent = contents.annotator;
  $("asked").textContent = contents.asked;
  $("choices").replaceChildren(...contents.labels.map(([, words], n) => {
    const button = element("button");
    button.type = "button";
    button.append(element("kbd", String(n + 1)), words);
    button.addEventListener("click", () => act(choose(n)));
    return button;
  }));
  $("back").addEventListener("click", () => act(move(-1)));
  $("next").addEventListener("click", () => act(move(1)));
  $("undo").addEventListener("click", () => act(undo));
  addEventListener("keydown", pressed);
  show();
}

start();
