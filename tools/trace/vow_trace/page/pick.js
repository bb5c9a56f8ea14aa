// What is under the pointer, and the box that tells about it.
const tip = document.getElementById("tip");

function hit(x, y) {
  if (y < TOP) return null;
  const at = y + timeline.scrollTop;
  const row = rows.find((each) => at >= each.y - 3 && at < each.y + each.height + 4);
  if (!row || row.what === "title") return null;
  if (x < GUTTER) return { row };
  if (row.what === "group") return hitLane(row, x, at);
  return hitThread(row, x, at);
}

function hitLane(row, x, at) {
  const slack = Math.max(1, Math.ceil(2 / row.lane / 2));
  const lane = Math.min(Math.max(Math.floor((at - row.y) / row.lane), 0), row.lanes - 1);
  const starts = laneStarts[row.number];
  let best = -1;
  let distance = 4;
  for (let each = Math.max(lane - (row.lane < 2 ? slack : 0), 0); each <= Math.min(lane + (row.lane < 2 ? slack : 0),
    row.lanes - 1); each += 1) {
    const index = firstFrom(ends, starts[each], starts[each + 1], timeAt(x - 3));
    for (let near = index; near < Math.min(index + 12, starts[each + 1]); near += 1) {
      const away = Math.max(xOf(made[near]) - x, x - xOf(ends[near]), 0);
      if (away < distance) { best = near; distance = away; }
    }
  }
  return best < 0 ? null : { row, promise: best };
}

function hitThread(row, x, at) {
  const thread = D.threads[row.number];
  if (at > row.y + row.lanes * 16 - 2) {
    const list = settlings[row.number];
    const found = list.find((index) => Math.abs(xOf(settled[index]) - x) < 4);
    return found === undefined ? null : { row, promise: found };
  }
  const level = Math.floor((at - row.y) / 16);
  let best = -1;
  for (let index = 0; index < thread.begin.length; index += 1) {
    if (Math.min(thread.level[index], row.lanes - 1) !== level) continue;
    if (xOf(thread.begin[index]) - 2 > x) break;
    if (xOf(thread.end[index]) + 2 >= x) best = index;
  }
  return best < 0 ? null : { row, slice: best, promise: thread.promise[best] };
}

function hover(x, y) {
  const found = hit(x, y);
  const index = found?.promise ?? -1;
  canvas.style.cursor = found ? "pointer" : "default";
  if (index !== chosen.hover) { chosen.hover = index; repaint(); }
  if (!found || (found.promise === undefined && found.slice === undefined)) { tip.hidden = true; return; }
  tip.replaceChildren(...(found.slice === undefined ? promiseTip(index) : sliceTip(found.row.number, found.slice)));
  tip.hidden = false;
  const box = canvas.getBoundingClientRect();
  const left = Math.min(box.left + x + 14, innerWidth - tip.offsetWidth - 8);
  const below = box.top + y + 16;
  tip.style.left = `${Math.max(left, 8)}px`;
  tip.style.top = `${below + tip.offsetHeight > innerHeight - 6 ? Math.max(6, below - tip.offsetHeight - 28) : below}px`;
}

function promiseTip(index) {
  const pairs = facts(index).filter(([key]) => !["Id", "Label"].includes(key));
  const wait = (list) => list.slice(0, 4).map((each) => short(titleOf(each.promise), 40)).join(", ") +
    (list.length > 4 ? ` and ${list.length - 4} more` : "");
  const [before, after] = [upstream(index), downstream(index)];
  if (before.length > 0) pairs.push(["Waited for", wait(before)]);
  if (after.length > 0) pairs.push(["Waited for by", wait(after)]);
  return [make("b", `${short(nameOf(index), 90)}  ${P.id[index]}`), list(pairs.map(([key, value]) => [key, short(value, 160)]))];
}

function sliceTip(place, slice) {
  const thread = D.threads[place];
  const index = thread.promise[slice];
  const wait = thread.await[slice];
  const took = thread.end[slice] - thread.begin[slice];
  const pairs = [["Thread", threadName(thread.tid)], ["Begin", moment(thread.begin[slice], 1e3)], [wait ? "Blocked" : "Ran", duration(took)]];
  if (textOf(thread.executor[slice])) pairs.push(["Executor", textOf(thread.executor[slice])]);
  if (index >= 0) pairs.push([wait ? "Awaits" : "Handler of", `${short(nameOf(index), 60)} ${P.id[index]}`]);
  const reads = thread.reads[slice];
  if (reads >= 0) {
    pairs.push(["Reads", `${short(nameOf(reads), 60)} ${P.id[reads]}`]);
    if (settled[reads] >= 0) pairs.push(["After it settled", duration(Math.max(0, thread.begin[slice] - settled[reads]))]);
  }
  return [make("b", short(wait ? "await" : textOf(thread.name_of[slice]), 90)), list(pairs)];
}
