"use strict";

// The list of questions, and what one shows.
(() => {
  const { append, make, sign, said, folded, unread } = elements;

  const SIGNS = { right: "✓", wrong: "✗", both: "±", neither: "○", unknown: "–", unreadable: "?", unjudged: "" };
  const WORDS = { right: "right", wrong: "wrong", both: "right and wrong", neither: "neither", unknown: "no answer", unreadable: "unreadable", unjudged: "not judged" };
  const VERDICTS = { right: ["✓", "right"], not: ["✗", "not right"], unreadable: ["?", "unreadable"], unjudged: ["·", "not judged"] };
  const KINDS = { correct: ["✓", "correct"], misinfo: ["✗", "misinformation"], noise: ["○", "noise"] };
  const SOURCES = { memory: "recalled", external: "retrieved", both: "recalled and retrieved" };
  // An answer with what it is by the data: a sign and a colour to see, a word to hear.
  const answer = (text, mark) => make("span", { class: `answer mark-${mark}`, dir: "auto", title: WORDS[mark] }, sign(SIGNS[mark]), " ", text, said(` (${WORDS[mark]})`));
  const answers = (list, note = () => null) => make("ul", { class: "answers" }, list.map((each) => make("li", {}, answer(each.text, each.mark), note(each))));

  const card = (method) => {
    const [shape, word] = VERDICTS[method.verdict];
    return make("li", { class: "card" },
      make("h5", {}, method.name),
      make("p", { class: "line" }, make("span", { class: `chip mark-${method.verdict}` }, sign(shape), " ", word),
        make("span", { class: "aside" }, `${method.calls.toLocaleString("en")} ${method.calls === 1 ? "reply" : "replies"}`)),
      method.problem ? null : method.answers.length ? answers(method.answers) : make("p", { class: "aside" }, "no answer"),
      unread(method),
      method.problem || !method.missing.length ? null
        : make("p", { class: "aside", dir: "auto" }, `Not named: ${method.missing.join("; ")}`),
      folded(method.explanation));
  };

  const agentHead = (source, index, reader) => {
    const [shape, word] = KINDS[source.kind] ?? [];
    return make("th", { scope: "row" },
      make("div", { class: "line" }, make("span", { class: "agent" }, `Agent ${index + 1}`),
        source.kind ? make("span", { class: `chip kind-${source.kind}` }, sign(shape), " ", word) : null),
      make("div", { class: "says" }, source.answer ? ["Its document says ", answer(source.answer, source.mark)] : source.kind === "noise" ? "Its document gives no answer" : null),
      reader);
  };
  // A document opens in a row of its own below its agent, where it has the width of the grid.
  const agentRows = (source, index, cells, id) => {
    const row = make("tr", { class: "reading", id, hidden: true }, make("td", { colspan: cells.length + 1 },
      make("div", { class: "text", dir: "auto", tabindex: "0", role: "region", "aria-label": `Document of agent ${index + 1}` }, source.text)));
    const button = make("button", { type: "button", class: "opens", "aria-expanded": "false", "aria-controls": id, dir: "auto" }, said(`Agent ${index + 1}: `), source.title ?? `document ${source.id}`);
    button.addEventListener("click", () => {
      row.hidden = !row.hidden;
      button.setAttribute("aria-expanded", String(!row.hidden));
    });
    return [make("tr", {}, agentHead(source, index, button), cells), row];
  };
  const tally = (reply) => {
    if (!reply.reliability) return null;
    const { support, refute, others } = reply.reliability;
    return make("p", { class: "aside" }, `${support} of ${others} others ${support === 1 ? "supports" : "support"}, ${refute} ${refute === 1 ? "refutes" : "refute"}`);
  };
  const cell = (reply) => make("td", { class: `said-${reply.mark}` },
    make("div", { class: "line" },
      answer(reply.mark === "unreadable" ? "unreadable" : reply.answer || "unknown", reply.mark),
      reply.changed ? make("span", { class: "chip changed" }, sign("↻"), " changed") : null),
    unread(reply), tally(reply), folded(reply.explanation));

  const concluded = (round, debate) => {
    const made = round.conclusion;
    if (debate.aggregator && !made.asked) return make("td", { class: "aside" }, "Not asked: the debate closes with the round before.");
    return make("td", {},
      round.final ? make("p", { class: "line" }, make("span", { class: "chip final" }, "final answer")) : null,
      made.problem ? make("p", { class: "line" }, answer("unreadable", "unreadable")) : null,
      unread(made),
      made.problem ? null : made.answers.length
        ? answers(made.answers, (each) => (each.own ? make("span", { class: "chip own" }, "of its own") : null))
        : make("p", { class: "aside" }, "no answer"),
      made.left.length ? [make("p", { class: "aside" }, "Left out:"), answers(made.left)] : null,
      folded(made.explanation));
  };

  const grid = (debate, sources, id) => {
    const rounds = debate.rounds;
    const table = make("table", { class: "debate" },
      make("caption", { class: "hidden-text" }, `What each agent says in each round, ${debate.name}`),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Agent and its document"),
        rounds.map((_, index) => make("th", { scope: "col" }, `Round ${index + 1}`)))),
      make("tbody", {}, sources.map((source, index) => agentRows(source, index, rounds.map((round) => cell(round.agents[index])), `${id}-document-${index + 1}`))),
      make("tfoot", {}, make("tr", {},
        make("th", { scope: "row" }, make("span", { class: "agent" }, debate.aggregator ? "Aggregator" : "Joint answer"),
          make("div", { class: "says" }, debate.aggregator ? "What it makes of the round" : "What the agents answer between them")),
        rounds.map((round) => concluded(round, debate)))));
    table.style.setProperty("--rounds", rounds.length);
    return make("div", { class: "held" },
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Debate, ${debate.name}` }, table),
      make("p", { class: "end" }, debate.end));
  };

  const debates = (content, id) => {
    if (!content.debates.length) return null;
    const place = make("div", { class: "place" });
    const drawn = new Map();
    const show = (index) => {
      if (!drawn.has(index)) drawn.set(index, grid(content.debates[index], content.documents, `${id}-debate-${index + 1}`));
      place.replaceChildren(drawn.get(index));
    };
    const choice = content.debates.length < 2 ? null : make("fieldset", { class: "variants" }, make("legend", { class: "hidden-text" }, "Which debate"),
      content.debates.map((debate, index) => {
        const button = make("input", { type: "radio", name: `${id}-debate`, checked: index === 0, autocomplete: "off" });
        button.addEventListener("change", () => show(index));
        return make("label", {}, button, debate.name);
      }));
    show(0);
    return [make("h4", {}, "The debate"), choice, place];
  };

  const origin = (of) => (of.length ? make("span", { class: "aside" }, ` from ${of.join(", ")}`) : null);
  const path = (passed) => passed && make("details", { class: "path" }, make("summary", {}, "How Astute RAG came to its answer"),
    make("h5", {}, "Recalled passages"),
    passed.internal.length ? make("ol", {}, passed.internal.map((text) => make("li", { class: "text", dir: "auto" }, text))) : make("p", { class: "aside" }, "None: the model said that it did not know."),
    passed.contexts.map((context, index) => [
      make("h5", {}, passed.contexts.length > 1 ? `Consolidated documents, pass ${index + 1}` : "Consolidated documents"),
      make("ol", {}, context.map((each) => make("li", {}, make("p", { class: "line" }, make("span", { class: "chip" }, SOURCES[each.source] ?? each.source), origin(each.of)), make("p", { class: "text", dir: "auto" }, each.text))))]),
    passed.groups.length ? [make("h5", {}, "Groups that agree"), make("ul", { class: "answers" }, passed.groups.map((group) =>
      make("li", {}, answer(group.answer, group.mark), make("span", { class: "aside" }, `confidence ${group.confidence.toFixed(2)}`), origin(group.of))))] : null,
    passed.problems.length ? [make("h5", {}, "Steps that could not be read"), make("ul", {}, passed.problems.map((problem) => make("li", { dir: "auto" }, problem)))] : null);

  const sources = (content) => content.debates.length ? null : [make("h4", {}, "Documents"), content.documents.map((source) =>
    make("details", { class: "paper" }, make("summary", { dir: "auto" }, `${(KINDS[source.kind] ?? ["", "kind not known"])[1]}: ${source.title ?? source.id}`), make("div", { class: "text", dir: "auto" }, source.text)))];

  const draw = (place, content, id) => append(place,
    make("h4", {}, "Answers"), make("ul", { class: content.methods.length > 4 ? "cards many" : "cards" }, content.methods.map(card)),
    debates(content, id), sources(content), path(content.consolidation));

  const fits = (data, chosen) => {
    if (chosen("data") && data.data !== chosen("data")) return false;
    const verdicts = data.verdicts.split(" ");
    const own = verdicts[Number(chosen("method"))];
    const wanted = chosen("verdict");
    if (wanted === "alone") return own === "right" && verdicts.includes("not");
    if (wanted === "missed") return own === "not" && verdicts.includes("right");
    return !wanted || own === wanted;
  };
  listing(document.querySelector(".madam"), { draw, fits, searched: ["summary", ".known", ".trouble"] });
})();
