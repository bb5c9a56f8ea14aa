// Selecting: what is shown of a promise, what it waits for and who waits for it.
function select(index, options = {}) {
  chosen.promise = index;
  if (index >= 0) {
    chosen.panel = "Details";
    if (options.reveal) reveal(index);
  }
  panels();
  changed();
}

// Brings a promise into view: its row, and its time if that is out of sight.
function reveal(index) {
  collapsed.delete(`group ${P.group[index]}`);
  layOut();
  const bar = barOf(index);
  scrollTo(bar.y, bar.height);
  const [from, to] = [made[index], ends[index]];
  const length = view.end - view.begin;
  if (to < view.begin || from > view.end || xOf(to) - xOf(from) < 3) {
    const shown = Math.min(Math.max((to - from) * 4, 1000), Math.max(length, (to - from) * 1.2));
    const middle = (from + to) / 2;
    show(middle - shown / 2, middle + shown / 2);
  }
}

function zoomTo(from, to) {
  const margin = Math.max((to - from) * 0.08, 100);
  show(from - margin, to + margin);
}

// The path to a promise: the one that came with the page, or put together of what led to each.
function pathTo(index) {
  if (D.path && D.path.promise === index) return D.path;
  if (!D.links || settled[index] < 0) return null;
  const found = [];
  const seen = new Set();
  for (let at = index; at >= 0 && !seen.has(at); at = D.links[at][0]) {
    seen.add(at);
    found.push(...D.links[at][1]);
    if (!D.links[at]) break;
  }
  return { promise: index, segments: found.reverse() };
}

function showPath(index) {
  chosen.path = index < 0 ? null : pathTo(index);
  if (chosen.path) {
    chosen.panel = "Critical path";
    const segments = chosen.path.segments;
    if (segments.length > 0) scrollTo(barOf(index).y, 16);
  }
  panels();
  changed();
}
