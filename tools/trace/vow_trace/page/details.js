// Small pieces of the side panel, and all that is known of one promise. Texts of the trace are only ever text nodes.
function make(tag, text, properties = {}) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  Object.assign(element, properties);
  return element;
}

const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function list(pairs) {
  const found = make("dl");
  for (const [key, value] of pairs) {
    const cell = make("dd");
    cell.append(value);
    found.append(make("dt", key), cell);
  }
  return found;
}

function chip(colour) {
  const found = make("span", undefined, { className: "chip" });
  found.style.background = colour;
  return found;
}

// A promise's name that selects it.
function link(index, text) {
  const found = make("button", undefined, { className: "go" });
  found.append(chip(colours.outcomes[outcome[index]]), text ?? short(`${nameOf(index)} `, 80), make("span", P.id[index], { className: "quiet" }));
  found.addEventListener("click", () => select(index, { reveal: true }));
  return found;
}

function button(text, action, title = "") {
  const found = make("button", text, { title });
  found.addEventListener("click", action);
  return found;
}

// Pairs of a word and a text.
function facts(index) {
  const found = [["Id", P.id[index]]];
  const add = (key, text) => { if (text) found.push([key, text]); };
  add("Label", textOf(P.label[index]));
  add("Kind", textOf(P.kind[index]));
  add("State", D.outcomes[outcome[index]]);
  add("Error", textOf(P.error[index]));
  add("Value", textOf(P.value[index]));
  add("Site", textOf(P.site[index]));
  add("Executor", textOf(P.executor[index]));
  add("Made", `${moment(made[index], 1e3)}, on ${threadName(P.madeOn[index])}`);
  if (settled[index] >= 0) {
    add("Settled", `${moment(settled[index], 1e3)}, on ${threadName(P.settledOn[index])}`);
    add("Pending for", duration(settled[index] - made[index]));
  } else add("Pending for", `${duration(D.duration - made[index])}, never settled`);
  if (timedOut.has(index)) add("Time-out", "began here");
  if (retriesOf.has(index)) add("Attempts", `${retriesOf.get(index).length + 1}, again at ${
    retriesOf.get(index).slice(0, 6).map((each) => moment(each, 1e3)).join(", ")}`);
  const progress = progressOf.get(index);
  if (progress) {
    const [, fraction, note] = progress[progress.length - 1];
    add("Progress", `${Math.round(fraction * 100)} % ${textOf(note)}`);
  }
  return found;
}
const progressOf = new Map(D.progress);

function details(index) {
  if (index < 0) {
    return [make("h2", "Nothing is selected"), make("p", "Click a bar to see what it waits for and who waits for it.")];
  }
  const found = [make("h2", short(nameOf(index), 300)), list(facts(index))];
  const row = make("div", undefined, { className: "buttons" });
  row.append(button("Zoom to it", () => { reveal(index); zoomTo(made[index], ends[index]); }, "z"));
  if (pathTo(index)) row.append(button("Critical path to it", () => showPath(index), "p"));
  found.push(row);
  const some = (title, edges) => {
    if (edges.length === 0) return;
    found.push(make("h2", `${title} (${edges.length.toLocaleString("en")})`));
    const table = make("table");
    for (const each of edges.slice(0, 100)) {
      const line = table.insertRow();
      line.insertCell().append(link(each.promise));
      const cell = line.insertCell();
      cell.className = "quiet";
      cell.append(HOW[each.how]);
    }
    found.push(table);
    if (edges.length > 100) found.push(make("p", `and ${(edges.length - 100).toLocaleString("en")} more`));
  };
  some("Waits for", upstream(index));
  some("Waited for by", downstream(index));
  const runs = runsOf.get(index) ?? [];
  if (runs.length > 0) {
    found.push(make("h2", `Handler's runs (${runs.length.toLocaleString("en")})`));
    found.push(runTable(runs.slice(0, 50)));
  }
  return found;
}

function runTable(runs) {
  const table = make("table");
  const head = table.createTHead().insertRow();
  for (const text of ["thread", "begin", "queued", "ran"]) head.append(make("th", text));
  const body = table.createTBody();
  for (const [place, slice] of runs) {
    const thread = D.threads[place];
    const reads = thread.reads[slice];
    const since = reads >= 0 && settled[reads] >= 0 ? Math.max(settled[reads], made[thread.promise[slice]] ?? 0) : -1;
    const line = body.insertRow();
    const cells = [threadName(thread.tid), moment(thread.begin[slice], 1e3),
      since < 0 ? "" : duration(Math.max(0, thread.begin[slice] - since)), duration(thread.end[slice] - thread.begin[slice])];
    for (const text of cells) line.insertCell().append(text);
    line.addEventListener("click", () => showSlice(place, slice));
  }
  return table;
}

function showSlice(place, slice) {
  const thread = D.threads[place];
  const box = sliceOf(place, slice);
  scrollTo(box.y, box.height);
  const length = Math.max((thread.end[slice] - thread.begin[slice]) * 6, 2000);
  show(thread.begin[slice] - length / 2, thread.begin[slice] + length / 2);
}
