// Where each group and thread stands: rows from top to bottom, in pixels of the whole picture.
const collapsed = new Set();
let rows = [];
let wholeHeight = 0;

// Few lanes are tall enough for names; many become thin lines; very many share pixels.
function laneHeight(lanes) {
  if (lanes <= 20) return 16;
  if (lanes <= 64) return 8;
  if (lanes <= 160) return 4;
  return Math.max(320 / lanes, 0.05);
}

function layOut() {
  let y = TOP + 4;
  rows = [];
  D.groups.forEach((group, number) => {
    const folded = collapsed.has(`group ${number}`);
    const lane = folded ? 10 / group.lanes : laneHeight(group.lanes);
    const height = Math.max(lane * group.lanes, 16);
    rows.push({ what: "group", number, y, height, lane: Math.min(lane, 16), lanes: group.lanes });
    y += height + 7;
  });
  if (D.threads.length > 0) {
    rows.push({ what: "title", y: y + 4, height: 18, text: "Threads" });
    y += 26;
  }
  D.threads.forEach((thread, number) => {
    const lanes = Math.min(thread.depth, collapsed.has(`thread ${number}`) ? 1 : D.levels);
    const height = Math.max(lanes * 16 + 7, 14);
    rows.push({ what: "thread", number, y, height, lane: 16, lanes });
    y += height + 7;
  });
  wholeHeight = y + 8;
  document.getElementById("spacer").style.height = `${Math.max(0, wholeHeight - view.height)}px`;
}

// Groups come first, then the threads after their title.
const rowOf = (what, number) => rows[what === "group" ? number : D.groups.length + 1 + number];

// The top of a promise's bar in the whole picture, and of a slice on a thread.
function barOf(index) {
  const row = rowOf("group", P.group[index]);
  return { y: row.y + P.lane[index] * row.lane, height: Math.max(row.lane, 1) };
}
function sliceOf(place, index) {
  const row = rowOf("thread", place);
  return { y: row.y + Math.min(D.threads[place].level[index], row.lanes - 1) * 16, height: 15 };
}

function fold(row) {
  const key = `${row.what} ${row.number}`;
  if (!collapsed.delete(key)) collapsed.add(key);
  layOut();
  repaint();
}

function scrollTo(y, height) {
  const top = timeline.scrollTop + TOP;
  if (y < top + 10 || y + height > timeline.scrollTop + view.height - 20) timeline.scrollTop = y - view.height / 2;
}
