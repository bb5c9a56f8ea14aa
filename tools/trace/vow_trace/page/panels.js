// The side panel: its tabs and their lists.
const panel = document.getElementById("panel");
const TABS = {
  Overview: overview,
  Details: () => details(chosen.promise),
  "Critical path": pathPanel,
  Longest: longest,
  "Never settled": never,
  "?": keysPanel,
};

function panels() {
  chosen.panel = TABS[chosen.panel] ? chosen.panel : "Overview";
  const tabs = document.getElementById("tabs");
  tabs.replaceChildren(...Object.keys(TABS).map((name) => {
    const count = name === "Never settled" ? ` ${D.never.length.toLocaleString("en")}` : "";
    const found = button(name + count, () => { chosen.panel = name; panels(); changed(); });
    found.setAttribute("role", "tab");
    found.setAttribute("aria-selected", String(name === chosen.panel));
    return found;
  }));
  panel.replaceChildren(...TABS[chosen.panel]());
  panel.scrollTop = 0;
}

function table(head, lines) {
  const found = make("table");
  const top = found.createTHead().insertRow();
  head.forEach((text) => top.append(make("th", text, { className: text.startsWith("#") ? "number" : "" })));
  [...top.cells].forEach((cell) => { cell.textContent = cell.textContent.replace("#", ""); });
  const body = found.createTBody();
  for (const line of lines) {
    const row = body.insertRow();
    line.forEach((value, place) => {
      const cell = row.insertCell();
      if (head[place].startsWith("#")) cell.className = "number";
      cell.append(value);
    });
  }
  return found;
}

const number = (value) => value.toLocaleString("en");

function overview() {
  const found = [make("h2", "Promises by name")];
  found.push(table(["name", "#number", "#lanes", "#not fulfilled"], D.groups.slice(0, 300).map((group, index) => {
    const name = make("button", short(group.labelled ? group.name : `(${group.name})`, 60), { className: "go" });
    name.addEventListener("click", () => { const row = rowOf("group", index); scrollTo(row.y, 2000); repaint(); });
    return [name, number(group.count), number(group.lanes), number(group.bad)];
  })));
  found[1].id = "groups";
  if (D.threads.length > 0) {
    found.push(make("h2", "Threads"), table(["thread", "#runs", "#busy"], D.threads.map((thread) => [
      threadName(thread.tid), number(thread.await.length), `${((100 * thread.busy) / whole).toFixed(1)} %`])));
  }
  if (D.retries.length > 0) {
    found.push(make("h2", "Tried again"), table(["promise", "#attempts"], D.retries.slice(0, 50).map(([index, moments]) => [
      link(index), number(moments.length + 1)])));
    if (D.retries.length > 50) found.push(make("p", `and ${number(D.retries.length - 50)} more`));
  }
  if (D.timeouts.length > 0) {
    found.push(make("h2", "Timed out"), table(["promise", "#after"], D.timeouts.slice(0, 50).map((index) => [
      link(index), duration(settled[index] - made[index])])));
    if (D.timeouts.length > 50) found.push(make("p", `and ${number(D.timeouts.length - 50)} more`));
  }
  return found;
}

function pathPanel() {
  const path = chosen.path ?? D.path;
  if (!path) return [make("h2", "No promise was settled")];
  const segments = path.segments;
  const begin = path.begin ?? (segments.length > 0 ? segments[0][1] : settled[path.promise]);
  const length = settled[path.promise] - begin;
  const found = [make("h2", "Critical path")];
  const to = make("p", "The chain of causes that led to ");
  to.append(link(path.promise), `: ${duration(length)}.`);
  found.push(to);
  const row = make("div", undefined, { className: "buttons" });
  row.append(chosen.path ? button("Hide in the timeline", () => showPath(-1)) :
    button("Show in the timeline", () => showPath(path.promise)));
  row.append(button("Zoom to it", () => zoomTo(begin, settled[path.promise])));
  if (D.path && path !== D.path) row.append(button("Of the whole trace", () => showPath(D.path.promise)));
  found.push(row);
  const sums = path.sums ?? D.categories.map((_, category) =>
    segments.reduce((sum, each) => sum + (each[0] === category ? each[2] - each[1] : 0), 0));
  const share = make("div", undefined, { className: "share" });
  sums.forEach((value, category) => {
    const part = make("span");
    part.style.flex = `${Math.max(value, 0)} 0 0`;
    part.style.background = colours.categories[category];
    share.append(part);
  });
  found.push(share);
  found.push(table(["", "#time", "#share"], D.categories.map((name, category) => {
    const cell = make("span");
    cell.append(chip(colours.categories[category]), name);
    return [cell, duration(sums[category]), `${((100 * sums[category]) / Math.max(length, 1)).toFixed(1)} %`];
  })));
  const steps = path.steps ?? segments.length;
  found.push(make("h2", `${number(steps)} ${steps === 1 ? "step" : "steps"}`));
  found.push(table(["", "what", "#time"], segments.slice(-500).map(([category, from, until, index, , text]) => {
    const what = make("span");
    const time = make("button", duration(until - from), { className: "go", title: `${D.categories[category]}, from ${moment(from, 1e3)}` });
    time.addEventListener("click", () => { if (index >= 0) scrollTo(barOf(index).y, 16); zoomTo(from, until); });
    what.append(textOf(text));
    if (index >= 0) what.append(make("br"), link(index));
    return [chip(colours.categories[category]), what, time];
  })));
  if (steps > 500) found.push(make("p", `Only the last 500 of ${number(steps)} steps are listed.`));
  return found;
}

function longest() {
  const found = [make("h2", "Longest pending"),
    make("p", "Promises with a label, and those that wait for no other promise.")];
  found.push(table(["promise", "#pending"], D.longest.pending.map((index) => [link(index), duration(ends[index] - made[index])])));
  const runName = (place, slice) => {
    const index = D.threads[place].promise[slice];
    if (index >= 0) return link(index);
    return make("span", textOf(D.threads[place].name_of[slice]));
  };
  const go = (text, place, slice) => {
    const cell = make("button", text, { className: "go" });
    cell.addEventListener("click", () => showSlice(place, slice));
    return cell;
  };
  found.push(make("h2", "Longest between settling and handler"),
    make("p", "The handler could have run, and waited for its turn on its executor."));
  found.push(table(["handler of", "#queued"], D.longest.queued.map(([delay, place, slice]) => [
    runName(place, slice), go(duration(delay), place, slice)])));
  found.push(make("h2", "Longest handlers"));
  found.push(table(["handler of", "#ran"], D.longest.runs.map(([place, slice]) => [
    runName(place, slice), go(duration(D.threads[place].end[slice] - D.threads[place].begin[slice]), place, slice)])));
  return found;
}

function never() {
  if (D.never.length === 0) return [make("h2", "Every promise was settled")];
  const found = [make("h2", `${number(D.never.length)} never settled`),
    make("p", "Pending when the trace ended, the oldest first, and what each hangs on in the end.")];
  found.push(table(["promise", "#pending"], D.never.slice(0, 300).map(([index, last]) => {
    const cell = make("span");
    cell.append(link(index));
    if (textOf(P.site[index])) cell.append(make("br"), make("span", textOf(P.site[index]), { className: "quiet" }));
    if (last !== index) cell.append(make("br"), "hangs on ", link(last));
    return [cell, duration(D.duration - made[index])];
  })));
  if (D.never.length > 300) found.push(make("p", `and ${number(D.never.length - 300)} more`));
  return found;
}

function keysPanel() {
  const lines = [
    ["Ctrl wheel, w s, + −", "zoom"], ["Drag, Shift wheel, a d, ← →", "move in time"], ["Wheel, ↑ ↓", "move up and down"],
    ["Shift drag", "zoom to a stretch"], ["0, Home", "show everything"], ["Click", "select; a name at the left folds its lanes"],
    ["z", "zoom to what is selected"], ["p", "critical path on and off, to what is selected"], ["/", "search"],
    ["n N, Enter", "next and previous match"], ["Esc", "clear search, path, selection"], ["t", "light or dark"],
  ];
  return [make("h2", "Mouse and keys"), list(lines),
    make("p", "The address holds what is seen: copy it to share zoom, selection, path and search with this file."),
    make("h2", "Marks"), list([["diamond", "a retry tried again"], ["hourglass", "a time-out ended it"], ["striped end", "never settled"],
      ["ticks under a thread", "promises that were settled there"]])];
}
