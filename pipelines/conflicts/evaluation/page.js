"use strict";

// The list of queries, and what one shows.
(() => {
  const { append, make, draw, sign, said, folded, unread } = elements;

  const GUESSES = { right: ["✓", "right"], wrong: ["✗", "wrong"], abstained: ["○", "abstained"], unreadable: ["?", "unreadable"], unjudged: ["·", "not judged"] };
  const VERDICTS = { adheres: ["✓", "as expected"], not: ["✗", "not as expected"], unreadable: ["?", "unreadable"], undecided: ["?", "verdict unreadable"], unjudged: ["·", "not judged"], included: ["✓", "included"], missing: ["✗", "not included"] };
  const GROUNDS = { supported: ["✓", "supported"], unsupported: ["○", "unsupported"], contradictory: ["✗", "contradictory"], no_fact: ["–", "no factual information"], unreadable: ["?", "verdict unreadable"] };
  const tag = (kind, [shape, word]) => make("span", { class: `tag is-${kind}` }, sign(shape), " ", word);
  const line = (...children) => make("p", { class: "line" }, ...children);

  // The place of a source within the query that is open, and links to it.
  const linking = (id, count) => ({
    id: (number) => `${id}-source-${number}`,
    link: (number) => make("a", { class: "cites-source", href: `#${id}-source-${number}`, "data-source": number, "aria-label": `Source ${number}` }, `[${number}]`),
    known: (number) => Number.isInteger(number) && number >= 1 && number <= count,
  });

  // Sources on a line of years: a dot where a day lies, and above it the number, stacked.
  const LANE = 24, BELOW = 26;
  const label = (source, number) => `[${number}] ${source.title || source.url || "no title"}, ${source.written ?? "no date"}`;
  const axis = (line, sources, links, kind) => {
    const height = line.lanes * LANE + 14;
    return draw("svg", { class: `years ${kind}`, viewBox: `0 0 ${line.width} ${height + BELOW}`, role: "group", "aria-label": "Sources by date" },
      draw("line", { class: "axis", x1: 0, x2: line.width, y1: height, y2: height }),
      line.ticks.map((tick) => [
        draw("line", { class: "axis", x1: tick.x, x2: tick.x, y1: height, y2: height + 6 }),
        draw("text", { class: "year", x: tick.x, y: height + 20, "text-anchor": "middle" }, String(tick.year)),
      ]),
      line.dots.map((dot) => draw("line", { class: "stem", x1: dot.x, x2: dot.x, y1: height, y2: height - dot.lane * LANE - 8 })),
      line.dots.map((dot) => {
        const middle = height - 18 - dot.lane * LANE;
        const source = sources[dot.number - 1];
        return draw("a", { class: "dated", href: `#${links.id(dot.number)}`, "data-source": dot.number, "aria-label": label(source, dot.number) },
          draw("circle", { cx: dot.x, cy: height, r: 3.5 }),
          draw("rect", { x: dot.x - 14, y: middle - 10, width: 28, height: 20, rx: 5 }),
          draw("text", { x: dot.x, y: middle + 4, "text-anchor": "middle" }, `[${dot.number}]`));
      }));
  };
  const timeline = (content, links) => {
    const [wide, narrow] = content.timelines;
    const hint = wide.dots.length ? "Point at a source to see its title and date." : "No source has a date.";
    const about = make("p", { class: "pointed note", dir: "auto", "aria-hidden": "true" }, hint);
    const undated = wide.undated.length ? make("div", { class: "undated" }, make("span", { class: "note" }, "no date"),
      wide.undated.map((number) => {
        const link = links.link(number);
        link.setAttribute("aria-label", label(content.sources[number - 1], number));
        return link;
      })) : null;
    const place = make("div", { class: "dates" },
      wide.dots.length ? [axis(wide, content.sources, links, "on-wide"), axis(narrow, content.sources, links, "on-narrow")] : null, undated);
    const point = (event) => {
      const number = event.target.closest("[data-source]")?.dataset.source;
      if (number) about.textContent = label(content.sources[number - 1], number);
    };
    place.addEventListener("pointerover", point);
    place.addEventListener("focusin", point);
    return [make("h4", {}, "When the sources were written"), place, about];
  };

  const chances = (list) => make("table", { class: "chances-of" },
    make("caption", { class: "hidden-text" }, "Probability of each type"),
    make("tbody", {}, list.map((each) => make("tr", { class: each.chosen ? "chosen" : null },
      make("th", { scope: "row" }, each.type, each.gold ? make("span", { class: "is-gold" }, sign("★"), said(", gold type")) : null),
      make("td", { class: "bar" }, draw("svg", { width: "100%", height: "10", "aria-hidden": "true" },
        draw("rect", { class: "whole", width: "100%", height: "10", rx: "2" }),
        draw("rect", { class: "part", width: `${(100 * each.chance).toFixed(2)}%`, height: "10", rx: "2" }))),
      make("td", { class: "chance" }, each.chance.toFixed(2))))));
  const prediction = (made) => make("li", { class: "card" },
    make("h5", {}, made.name),
    line(tag(made.guess, GUESSES[made.guess]), made.type && !made.problem ? make("strong", {}, made.type) : null),
    unread(made),
    made.chances ? chances(made.chances) : null,
    made.mass !== null ? make("p", { class: "aside" }, `${(100 * made.mass).toFixed(0)} % of the model's probability is on these types`) : null,
    folded(made.explanation));

  const cites = (sentence, links) => [
    sentence.cites.map((number) => [" ", links.known(number) ? links.link(number) : `[${number}]`]),
    sentence.unknown.map((number) => [" ", make("span", { class: "cites-nothing", title: "There is no such source" }, `[${number}]`, said(" (no such source)"))]),
  ];
  const relation = (each, links) => make("li", {}, links.known(Number(each.document)) ? links.link(Number(each.document)) : `[${each.document}]`, ` ${each.relation}`,
    each.quote ? [": ", make("q", { dir: "auto" }, each.quote)] : null);
  const grounds = (sentence, links) => {
    if (!sentence.grounds) return null;
    const [shape, word] = GROUNDS[sentence.grounds];
    const detail = [
      sentence.quote ? make("blockquote", { dir: "auto" }, sentence.quote) : null,
      sentence.reason ? make("p", { class: "why", dir: "auto" }, sentence.reason) : null,
      unread(sentence),
      sentence.relations.length ? make("ul", { class: "relations" }, sentence.relations.map((each) => relation(each, links))) : null,
      sentence.by.length ? make("p", { class: "aside" }, "Judged by ", sentence.by.map((number) => [links.known(number) ? links.link(number) : `[${number}]`, " "])) : null,
    ].flat().filter(Boolean);
    if (!detail.length) return make("p", { class: "ground" }, sign(shape), " ", word);
    return make("details", { class: "ground" }, make("summary", {}, sign(shape), " ", word), detail);
  };
  const sentences = (made, links) => (made.sentences.length
    ? make("ol", { class: "said-in" }, made.sentences.map((sentence) => make("li", { class: `ground-${sentence.grounds ?? "none"}` },
      make("span", { class: "sentence-of", dir: "auto" }, sentence.text, cites(sentence, links)), grounds(sentence, links))))
    : made.text ? make("p", { class: "sentence-of", dir: "auto" }, made.text) : null);

  const worth = (title, kind, words, ...more) => make("div", {}, make("dt", {}, title), make("dd", {}, line(tag(kind, words), more[0]), more.slice(1)));
  const judged = (made, links) => {
    const rows = [];
    if (made.behaviour) {
      const own = made.behaviour;
      const sure = own.probability === null ? null : make("span", { class: "aside" }, `probability ${own.probability.toFixed(2)}`);
      rows.push(worth(`Expected behaviour (${own.type}${own.gold ? "" : ", the type it was written under"})`, own.verdict, VERDICTS[own.verdict], sure, folded(own.reason), unread(own)));
    }
    if (made.inclusion) {
      const own = made.inclusion;
      rows.push(worth("Gold answer", own.verdict, VERDICTS[own.verdict], make("span", { class: "aside", dir: "auto" }, own.gold),
        folded(own.reason), own.relation?.quote ? make("blockquote", { dir: "auto" }, own.relation.quote) : null, unread(own)));
    }
    if (made.sentences.some((sentence) => sentence.grounds)) {
      const factual = made.sentences.filter((sentence) => ["supported", "unsupported", "contradictory"].includes(sentence.grounds));
      const held = factual.filter((sentence) => sentence.grounds === "supported").length;
      const words = factual.length ? `${held} of ${factual.length} sentences with facts supported` : "no sentence with facts";
      rows.push(make("div", {}, make("dt", {}, "Grounding"), make("dd", {}, words)));
    }
    return rows.length ? make("dl", { class: "worths" }, rows) : null;
  };
  const answer = (made, links) => make("li", { class: "card" },
    make("h5", {}, made.name),
    line(tag(made.verdict, VERDICTS[made.verdict]),
      made.told ? make("span", { class: "aside" }, `told: ${made.told}`) : null,
      made.gave ? make("span", { class: "aside" }, `gave the type: ${made.gave}`) : null,
      made.finished ? null : make("span", { class: "tag is-unreadable" }, sign("…"), " cut by the limit of tokens")),
    unread(made),
    sentences(made, links),
    judged(made, links));

  const source = (each, number, links) => make("li", {}, make("details", { class: "origin" },
    // The id is the summary's, which the keyboard can be on: a link to it takes the keyboard along.
    make("summary", { id: links.id(number) }, make("span", { class: "number-of" }, `[${number}]`), " ",
      make("span", { class: "title-of", dir: "auto" }, each.title || each.url || "no title"),
      make("span", { class: "aside", dir: "auto" }, each.written ?? (each.date ? `no date that can be read: ${each.date}` : "no date"))),
    each.url ? make("p", { class: "url-of", dir: "ltr" }, each.live ? make("a", { href: each.url, rel: "noreferrer noopener", target: "_blank" }, each.url) : each.url) : null,
    each.snippet ? make("p", { class: "why", dir: "auto" }, make("span", { class: "aside" }, "Snippet: "), each.snippet) : null,
    make("div", { class: "words-of", dir: "auto" }, each.text)));
  const sources = (content, links) => [
    make("h4", {}, "Sources"),
    content.truncations.length ? make("ul", { class: "notes" }, content.truncations.map((each) => make("li", { dir: "auto" }, each))) : null,
    make("ol", { class: "origins" }, content.sources.map((each, index) => source(each, index + 1, links))),
  ];

  const show = (place, content, id) => {
    const links = linking(id, content.sources.length);
    append(place,
      timeline(content, links),
      content.predictions.length ? [make("h4", {}, "Predicted types"), make("ul", { class: "cards" }, content.predictions.map(prediction))] : null,
      content.answers.length ? [make("h4", {}, "Answers"), make("ul", { class: "cards answers-of" }, content.answers.map((made) => answer(made, links)))] : null,
      sources(content, links));

    // The page unfolds what a link leads to, but not when the link was followed just before.
    place.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-source]");
      if (link) document.getElementById(links.id(link.dataset.source)).parentElement.open = true;
    });
    // What belongs to the source that was pointed at last lights up.
    const light = (event) => {
      const number = event.target.closest("a[data-source]")?.dataset.source;
      if (!number) return;
      for (const each of place.querySelectorAll("a[data-source]")) each.classList.toggle("lit-up", each.dataset.source === number);
    };
    place.addEventListener("pointerover", light);
    place.addEventListener("focusin", light);
  };

  // "right" and "adheres" want it of all that were asked, others of one.
  const has = (own, wanted) => {
    if (!wanted) return true;
    if (wanted !== "right" && wanted !== "adheres") return own.includes(wanted);
    const asked = own.filter((each) => each && each !== "none");
    return asked.length > 0 && asked.every((each) => each === wanted);
  };
  const fits = (data, chosen) => ["run", "type"].every((name) => !chosen(name) || data[name] === chosen(name))
    && has(data.guesses.split(" "), chosen("guess")) && has(data.verdicts.split(" "), chosen("verdict"));

  // A page that is opened at a source: its query is drawn before the page goes there.
  const wanted = document.getElementById(decodeURIComponent(location.hash.slice(1)).replace(/-source-\d+$/, ""));
  if (wanted?.matches(".conflicts .entry")) wanted.open = true;
  listing(document.querySelector(".conflicts"), { draw: show, fits, searched: ["summary", ".known", ".trouble"] });
})();
