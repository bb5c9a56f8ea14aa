// Paints what is seen of the picture: no more marks than pixels, however many promises there are.
const ink = canvas.getContext("2d");
const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const WORST = [0, 4, 3, 2, 1]; // fulfilled, rejected, timed out, cancelled, pending: what shows of many in a pixel

function paint() {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(view.width * ratio);
  canvas.height = Math.round(view.height * ratio);
  canvas.style.width = `${view.width}px`;
  canvas.style.height = `${view.height}px`;
  ink.setTransform(ratio, 0, 0, ratio, 0, 0);
  ink.font = FONT;
  ink.textBaseline = "middle";
  ink.fillStyle = colours.ground;
  ink.fillRect(0, 0, view.width, view.height);
  const top = timeline.scrollTop;
  const distance = grid();
  ink.save();
  ink.beginPath();
  ink.rect(0, TOP, view.width, view.height - TOP);
  ink.clip();
  ink.translate(0, -top);
  const seen = rows.filter((row) => row.y + row.height > top + TOP - 20 && row.y < top + view.height + 20);
  ink.save();
  ink.beginPath();
  ink.rect(GUTTER, top, view.width, view.height);
  ink.clip();
  for (const row of seen) {
    if (row.what === "group") paintGroup(row, top);
    if (row.what === "thread") paintThread(row);
  }
  paintMarks(seen);
  paintPath();
  paintChosen();
  ink.restore();
  for (const row of seen) gutter(row);
  ink.restore();
  counters();
  ruler(distance);
  timeline.dataset.begin = Math.round(view.begin);
  timeline.dataset.end = Math.round(view.end);
}

function grid() {
  const distance = roundStep(((view.end - view.begin) / plotWidth()) * 90);
  ink.fillStyle = colours.grid;
  for (let time = Math.ceil(view.begin / distance) * distance; time <= view.end; time += distance) {
    ink.fillRect(Math.round(xOf(time)), RULER, 1, view.height);
  }
  return distance;
}

function ruler(distance) {
  ink.fillStyle = colours.raised;
  ink.fillRect(0, 0, view.width, RULER);
  ink.fillStyle = colours.line;
  ink.fillRect(0, RULER - 1, view.width, 1);
  ink.fillRect(GUTTER - 1, RULER, 1, view.height);
  ink.fillStyle = colours.quiet;
  ink.textAlign = "left";
  ink.fillText(`${duration(view.end - view.begin)} shown`, 12, RULER / 2);
  for (let time = Math.ceil(view.begin / distance) * distance; time <= view.end; time += distance) {
    const x = Math.round(xOf(time));
    if (x < GUTTER) continue;
    ink.fillRect(x, RULER - 6, 1, 5);
    ink.fillText(moment(time, distance), x + 4, RULER / 2);
  }
}

// Live and pending promises over time.
function counters() {
  const points = D.counters;
  ink.fillStyle = colours.ground;
  ink.fillRect(0, RULER, GUTTER - 1, COUNTERS);
  const highest = points.reduce((most, each) => Math.max(most, each[1], each[2]), 1);
  const bottom = RULER + COUNTERS - 4;
  const yOf = (value) => bottom - (value / highest) * (COUNTERS - 12);
  ink.save();
  ink.beginPath();
  ink.rect(GUTTER, RULER, view.width, COUNTERS);
  ink.clip();
  for (const [column, colour] of [[1, colours.live], [2, colours.fulfilled]]) {
    ink.beginPath();
    ink.moveTo(xOf(points.length > 0 ? points[0][0] : 0), bottom);
    let before = bottom;
    for (const each of points) {
      ink.lineTo(xOf(each[0]), before);
      before = yOf(each[column]);
      ink.lineTo(xOf(each[0]), before);
    }
    ink.lineTo(xOf(D.duration), before);
    ink.lineTo(xOf(D.duration), bottom);
    ink.fillStyle = colour;
    ink.fill();
  }
  ink.restore();
  ink.fillStyle = colours.line;
  ink.fillRect(0, TOP - 1, view.width, 1);
  ink.textAlign = "left";
  ink.fillStyle = colours.text;
  ink.fillText("Live and pending", 12, RULER + 17);
  ink.fillStyle = colours.quiet;
  ink.fillText(`at most ${highest.toLocaleString("en")} at once`, 12, RULER + 34);
}

function gutter(row) {
  ink.fillStyle = colours.ground;
  ink.fillRect(0, row.y - 4, GUTTER - 1, row.height + 8);
  ink.textAlign = "left";
  if (row.what === "title") {
    ink.fillStyle = colours.line;
    ink.fillRect(0, row.y - 5, view.width, 1);
    label(row.text, 12, row.y + 9, colours.text, GUTTER - 20, "bold ");
    return;
  }
  const isGroup = row.what === "group";
  const source = isGroup ? D.groups[row.number] : D.threads[row.number];
  const folded = collapsed.has(`${row.what} ${row.number}`);
  const name = isGroup ? source.name : source.name || `thread ${D.tids[source.tid]}`;
  const runs = isGroup ? 0 : source.await.length;
  const more = isGroup
    ? `${source.count.toLocaleString("en")} · ${source.lanes} ${source.lanes === 1 ? "lane" : "lanes"}`
    : `${runs.toLocaleString("en")} runs · ${((100 * source.busy) / whole).toFixed(1)} % busy`;
  ink.fillStyle = colours.quiet;
  ink.beginPath();
  const middle = row.y + 8;
  if (folded) { ink.moveTo(5, middle - 3); ink.lineTo(9, middle); ink.lineTo(5, middle + 3); }
  else { ink.moveTo(3, middle - 2); ink.lineTo(9, middle - 2); ink.lineTo(6, middle + 2); }
  ink.fill();
  const weight = isGroup && source.labelled ? "bold " : "";
  if (row.height >= 31) {
    label(name, 13, row.y + 8, colours.text, GUTTER - 22, weight);
    label(more, 13, row.y + 22, colours.quiet, GUTTER - 22);
  } else {
    const room = GUTTER - 22;
    const used = label(name, 13, row.y + 8, colours.text, room - (isGroup ? 46 : 60), weight);
    label(isGroup ? source.count.toLocaleString("en") : `${((100 * source.busy) / whole).toFixed(1)} %`,
      13 + used + 7, row.y + 8, colours.quiet, room - used - 7);
  }
}

// A text cut to its room; returns its width.
function label(text, x, y, colour, room, weight = "") {
  ink.font = weight + FONT;
  ink.fillStyle = colour;
  const cut = shorten(text, room);
  ink.fillText(cut, x, y);
  const width = ink.measureText(cut).width;
  ink.font = FONT;
  return width;
}

function shorten(text, room) {
  text = text.slice(0, 200);
  if (ink.measureText(text).width <= room) return text;
  let least = 0;
  let most = text.length;
  while (least < most) {
    const middle = (least + most + 1) >> 1;
    if (ink.measureText(`${text.slice(0, middle)}…`).width <= room) least = middle;
    else most = middle - 1;
  }
  return least > 5 ? `${text.slice(0, least)}…` : "";
}

// The first index from low to high whose value is not below: of a sorted column.
function firstFrom(column, low, high, value) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

function paintGroup(row, top) {
  const starts = laneStarts[row.number];
  const fills = colours.outcomes.map(() => []);
  const dim = [];
  const names = [];
  const height = Math.max(row.lane >= 4 ? row.lane - 1 : row.lane, 1);
  const drawn = row.lane < 1 ? Math.ceil(1 / row.lane) : 1;
  for (let lane = 0; lane < row.lanes; lane += 1) {
    const y = row.y + lane * row.lane;
    if (y + row.lane < top + TOP || y > top + view.height) continue;
    if (drawn > 1 && lane % drawn !== 0 && starts[lane + 1] - starts[lane] < 2) continue;
    let index = Math.max(firstFrom(ends, starts[lane], starts[lane + 1], view.begin), starts[lane]);
    let sliver = null;
    const put = () => { if (sliver) (sliver.dim ? dim : fills[sliver.outcome]).push(sliver.x, y, 1.5); sliver = null; };
    for (; index < starts[lane + 1] && made[index] <= view.end; index += 1) {
      const from = Math.max(xOf(made[index]), GUTTER - 4);
      const to = Math.min(xOf(ends[index]), view.width + 4);
      const unmatched = chosen.matches !== null && !chosen.matches[index];
      if (to - from < 1.5) {
        const x = Math.floor(from);
        if (sliver && sliver.x === x) {
          if (WORST[outcome[index]] > WORST[sliver.outcome]) sliver.outcome = outcome[index];
          sliver.dim = sliver.dim && unmatched;
        } else { put(); sliver = { x, outcome: outcome[index], dim: unmatched }; }
        continue;
      }
      put();
      (unmatched ? dim : fills[outcome[index]]).push(from, y, to - from - (to - from > 4 ? 1 : 0));
      if (row.lane >= 12 && to - from > 26) names.push([index, from, to, y, unmatched]);
    }
    put();
  }
  const fill = (list, colour) => {
    ink.fillStyle = colour;
    for (let at = 0; at < list.length; at += 3) ink.fillRect(list[at], list[at + 1], list[at + 2], height);
  };
  fill(dim, colours.dim);
  fills.forEach((list, number) => fill(list, colours.outcomes[number]));
  for (const [index, from, to, y, unmatched] of names) {
    if (outcome[index] === PENDING) openEnd(to, y, height);
    const begin = Math.max(from, GUTTER) + 4;
    const light = unmatched || [2, PENDING].includes(outcome[index]) || (isDark() && outcome[index] !== 0);
    const colour = unmatched ? colours.quiet : light ? "#14181d" : colours["bar-text"];
    label(nameOf(index), begin, y + height / 2 + 0.5, colour, to - begin - 3);
  }
}

// What never settled has no end: its bar runs out in stripes.
function openEnd(x, y, height) {
  ink.fillStyle = colours.ground;
  for (let stripe = 0; stripe < 4; stripe += 1) ink.fillRect(Math.min(x, view.width) - 4 - stripe * 5, y, 2, height);
}

function paintThread(row) {
  const thread = D.threads[row.number];
  const last = new Array(Math.max(row.lanes, 1)).fill(-10);
  for (const wait of [1, 0]) {
    ink.fillStyle = wait ? colours.await : colours.handler;
    last.fill(-10);
    for (let index = 0; index < thread.begin.length && thread.begin[index] <= view.end; index += 1) {
      if (thread.await[index] !== wait || thread.end[index] < view.begin) continue;
      const level = Math.min(thread.level[index], row.lanes - 1);
      const from = Math.max(xOf(thread.begin[index]), GUTTER - 4);
      const to = Math.min(xOf(thread.end[index]), view.width + 4);
      if (to - from < 1 && Math.floor(from) <= last[level]) continue;
      last[level] = Math.floor(from);
      const y = row.y + level * 16;
      ink.fillRect(from, y, Math.max(to - from - (to - from > 4 ? 1 : 0), 1), 15);
      if (to - from > 30) {
        const begin = Math.max(from, GUTTER) + 4;
        const target = thread.promise[index];
        const text = wait ? `awaits ${target < 0 ? "" : nameOf(target)}` : textOf(thread.name_of[index]);
        label(text, begin, y + 8, wait ? colours.text : colours["bar-text"], to - begin - 3);
        ink.fillStyle = wait ? colours.await : colours.handler;
      }
    }
  }
  const y = row.y + (row.lanes > 0 ? row.lanes * 16 : 5);
  let before = -1;
  const list = settlings[row.number];
  for (let at = firstSettling(list); at < list.length && settled[list[at]] <= view.end; at += 1) {
    const x = Math.round(xOf(settled[list[at]]));
    if (x === before) continue;
    before = x;
    ink.fillStyle = colours.outcomes[outcome[list[at]]];
    ink.fillRect(x, y, 1, 5);
  }
}

function firstSettling(list) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (settled[list[middle]] < view.begin) low = middle + 1; else high = middle;
  }
  return low;
}
