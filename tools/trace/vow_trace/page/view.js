// What is seen: the stretch of time, the theme, and one request to paint at a time.
const GUTTER = 172;
const RULER = 26;
const COUNTERS = 58;
const TOP = RULER + COUNTERS;
const canvas = document.getElementById("canvas");
const timeline = document.getElementById("timeline");
const whole = Math.max(D.duration, 1);
const view = { begin: 0, end: whole, width: 800, height: 600 };
const chosen = { promise: -1, path: null, matches: null, matched: [], match: -1, hover: -1, panel: "" };
const watchers = [];

const plotWidth = () => Math.max(view.width - GUTTER, 10);
const xOf = (time) => GUTTER + ((time - view.begin) / (view.end - view.begin)) * plotWidth();
const timeAt = (x) => view.begin + ((x - GUTTER) / plotWidth()) * (view.end - view.begin);

// Shows from begin to end: at least 50 ns, and never far beyond the trace.
function show(begin, end) {
  const length = Math.min(Math.max(end - begin, 50), whole * 1.02);
  const middle = (begin + end) / 2;
  const margin = length * 0.02;
  begin = Math.min(Math.max(middle - length / 2, -margin), Math.max(whole + margin - length, -margin));
  view.begin = begin;
  view.end = begin + length;
  changed();
}
const fit = () => show(-whole * 0.01, whole * 1.01);

function zoom(factor, at = (view.begin + view.end) / 2) {
  const length = Math.min(Math.max((view.end - view.begin) * factor, 50), whole * 1.02);
  const part = (at - view.begin) / (view.end - view.begin);
  show(at - part * length, at + (1 - part) * length);
}

function pan(part) {
  const by = (view.end - view.begin) * part;
  show(view.begin + by, view.end + by);
}

let waiting = false;
function repaint() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; paint(); });
}
function changed() {
  repaint();
  watchers.forEach((each) => each());
}

let colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["ground", "raised", "line", "text", "quiet", "accent", "fulfilled", "rejected", "timed-out", "cancelled",
    "pending", "handler", "await", "path", "grid", "live", "mark", "bar-text", "light-text", "dim"];
  colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  colours.outcomes = ["fulfilled", "rejected", "timed-out", "cancelled", "pending"].map((name) => colours[name]);
  colours.categories = [colours.pending, colours["timed-out"], colours.handler];
}

const dark = matchMedia("(prefers-color-scheme: dark)");
function setTheme(name) {
  document.documentElement.classList.toggle("dark", name ? name === "dark" : dark.matches);
  view.theme = name;
  readColours();
  changed();
}
const isDark = () => document.documentElement.classList.contains("dark");
