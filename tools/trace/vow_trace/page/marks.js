// What is drawn over the bars: retries, time-outs, the critical path, and what is selected.
function paintMarks(seen) {
  const visible = new Set(seen.filter((row) => row.what === "group").map((row) => row.number));
  const placed = new Set();
  const crowd = D.retries.length + D.timeouts.length;
  const apart = crowd * (view.end - view.begin) > 600 * whole ? 24 : 7;
  const free = (x, y) => {
    const key = `${Math.round(x / apart)} ${Math.round(y)}`;
    return placed.has(key) ? false : Boolean(placed.add(key));
  };
  for (const [index, moments] of D.retries) {
    if (!visible.has(P.group[index]) || (chosen.matches && !chosen.matches[index])) continue;
    const bar = barOf(index);
    for (const time of moments) {
      const x = xOf(time);
      if (x > GUTTER && x < view.width && free(x, bar.y)) retryMark(x, bar);
    }
  }
  for (const index of D.timeouts) {
    if (!visible.has(P.group[index]) || (chosen.matches && !chosen.matches[index])) continue;
    const bar = barOf(index);
    const x = xOf(settled[index]);
    if (x > GUTTER && x < view.width + 8 && free(x, bar.y)) timeOutMark(x, bar);
  }
}

const markSize = (bar) => Math.min(Math.max(bar.height * 0.25, 2), 4);

// A diamond: tried again here.
function retryMark(x, bar) {
  const size = markSize(bar);
  const y = bar.y + bar.height / 2 - 0.5;
  ink.beginPath();
  ink.moveTo(x, y - size); ink.lineTo(x + size, y); ink.lineTo(x, y + size); ink.lineTo(x - size, y);
  ink.closePath();
  outlined(colours["light-text"], "#ffffff");
}

// Two triangles, tip on tip, an hourglass: a time-out ended it here.
function timeOutMark(x, bar) {
  const size = markSize(bar);
  const y = bar.y + bar.height / 2 - 0.5;
  x -= size + 1;
  ink.beginPath();
  ink.moveTo(x - size, y - size); ink.lineTo(x + size, y - size);
  ink.lineTo(x - size, y + size); ink.lineTo(x + size, y + size);
  ink.closePath();
  outlined("#14181d", "#ffffff");
}

function outlined(fill, line) {
  ink.lineWidth = 2;
  ink.strokeStyle = line;
  ink.stroke();
  ink.fillStyle = fill;
  ink.fill();
}

// Each stretch of the path lies on the bar of its promise, with a line to the next one.
function paintPath() {
  if (!chosen.path) return;
  let before = null;
  ink.strokeStyle = colours.path;
  ink.fillStyle = colours.path;
  for (const [category, begin, end, index] of chosen.path.segments) {
    if (index < 0) { before = null; continue; }
    const bar = barOf(index);
    const y = bar.y + bar.height / 2 - 0.5;
    const from = xOf(begin);
    const to = Math.max(xOf(end), from + 1);
    if (before) {
      ink.lineWidth = 1;
      ink.beginPath();
      ink.moveTo(before.x, before.y);
      ink.lineTo(from, y);
      ink.stroke();
    }
    if (to > 0 && from < view.width) {
      const thick = [2, 3, 5][category];
      if (bar.height >= 8) {
        ink.lineWidth = 1.5;
        ink.strokeRect(from, bar.y - 0.5, to - from, bar.height);
        ink.fillRect(from, bar.y + bar.height - 1 - thick, to - from, thick);
      } else ink.fillRect(from, bar.y - 1, to - from, Math.max(bar.height, 3));
    }
    before = { x: to, y };
  }
}

function frame(index, colour, width) {
  const bar = barOf(index);
  const from = Math.max(xOf(made[index]), GUTTER - 6);
  const to = Math.min(xOf(ends[index]), view.width + 6);
  ink.strokeStyle = colour;
  ink.lineWidth = width;
  ink.strokeRect(from - 0.5, bar.y - 0.5, Math.max(to - from, 3), Math.max(bar.height, 3));
}

const RELATED = 150;

function paintChosen() {
  if (chosen.hover >= 0 && chosen.hover !== chosen.promise) frame(chosen.hover, colours.text, 1);
  const index = chosen.promise;
  if (index < 0) return;
  for (const each of upstream(index).slice(0, RELATED)) {
    frame(each.promise, colours.accent, 2);
    if (settled[each.promise] >= 0) arrow(endOf(each.promise), arrival(index, settled[each.promise]), colours.accent);
  }
  for (const each of downstream(index).slice(0, RELATED)) {
    frame(each.promise, colours.accent, 1);
    if (settled[index] >= 0) arrow(endOf(index), arrival(each.promise, settled[index]), colours.accent);
  }
  frame(index, colours.text, 2.5);
  for (const [place, slice] of (runsOf.get(index) ?? []).slice(0, RELATED)) {
    flow(D.threads[place].reads[slice], place, slice);
  }
  for (const each of downstream(index).slice(0, RELATED)) {
    for (const [place, slice] of (runsOf.get(each.promise) ?? []).slice(0, RELATED)) {
      if (D.threads[place].reads[slice] === index) flow(index, place, slice);
    }
  }
}

const endOf = (index) => {
  const bar = barOf(index);
  return { x: xOf(settled[index]), y: bar.y + bar.height / 2 };
};
const arrival = (index, time) => {
  const bar = barOf(index);
  const at = Math.min(Math.max(time, made[index]), ends[index]);
  return { x: xOf(at), y: bar.y + bar.height / 2 };
};

// From a settling on its thread to the handler that it let run.
function flow(source, place, slice) {
  const box = sliceOf(place, slice);
  const thread = D.threads[place];
  const from = xOf(thread.begin[slice]);
  ink.strokeStyle = colours.text;
  ink.lineWidth = 2;
  ink.strokeRect(from, box.y - 0.5, Math.max(xOf(thread.end[slice]) - from, 2), box.height);
  const home = source >= 0 ? threadOfTid.get(P.settledOn[source]) : undefined;
  if (home === undefined || settled[source] < 0) return;
  const row = rowOf("thread", home);
  arrow({ x: xOf(settled[source]), y: row.y + row.lanes * 16 + 2 }, { x: from, y: box.y + box.height / 2 }, colours.path);
}

function arrow(from, to, colour) {
  if (Math.max(from.x, to.x) < GUTTER || Math.min(from.x, to.x) > view.width) return;
  const bend = Math.max(Math.min(Math.abs(to.x - from.x) / 2, 60), 10);
  ink.strokeStyle = colour;
  ink.fillStyle = colour;
  ink.lineWidth = 1.3;
  ink.beginPath();
  ink.moveTo(from.x, from.y);
  ink.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x - 4, to.y);
  ink.stroke();
  ink.beginPath();
  ink.moveTo(to.x, to.y);
  ink.lineTo(to.x - 7, to.y - 3.5);
  ink.lineTo(to.x - 7, to.y + 3.5);
  ink.fill();
}
