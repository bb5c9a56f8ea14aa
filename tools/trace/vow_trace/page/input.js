// Mouse, wheel, touch and keys.
let drag = null;
const place = (event) => {
  const at = canvas.getBoundingClientRect();
  return [event.clientX - at.left, event.clientY - at.top];
};

canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  const [x, y] = place(event);
  drag = { x, y, begin: view.begin, end: view.end, top: timeline.scrollTop, moved: false, stretch: event.shiftKey };
  canvas.setPointerCapture(event.pointerId);
});

canvas.addEventListener("pointermove", (event) => {
  const [x, y] = place(event);
  if (!drag) { hover(x, y); return; }
  if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
  drag.moved = true;
  tip.hidden = true;
  if (drag.stretch) { drag.to = x; repaint(); return; }
  const by = ((drag.x - x) / plotWidth()) * (drag.end - drag.begin);
  show(drag.begin + by, drag.end + by);
  timeline.scrollTop = drag.top + drag.y - y;
});

canvas.addEventListener("pointerup", (event) => {
  const [x, y] = place(event);
  const done = drag;
  drag = null;
  if (!done) return;
  if (done.moved && done.stretch) {
    const [from, to] = [timeAt(Math.min(done.x, x)), timeAt(Math.max(done.x, x))];
    show(from, to);
  } else if (!done.moved) click(x, y);
});
canvas.addEventListener("pointercancel", () => { drag = null; });
canvas.addEventListener("pointerleave", () => { tip.hidden = true; if (chosen.hover >= 0) { chosen.hover = -1; repaint(); } });

function click(x, y) {
  timeline.focus({ preventScroll: true });
  const found = hit(x, y);
  if (found && x < GUTTER) fold(found.row);
  else select(found?.promise ?? -1);
}

timeline.addEventListener("wheel", (event) => {
  const [x, y] = place(event);
  const size = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 400 : 1;
  const scrolls = timeline.scrollHeight > timeline.clientHeight + 1;
  tip.hidden = true;
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
    event.preventDefault();
    pan(((event.deltaX || event.deltaY) * size) / plotWidth());
  } else if (event.ctrlKey || event.metaKey || y < TOP || !scrolls) {
    event.preventDefault();
    zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY * size)) * 0.004), timeAt(Math.max(x, GUTTER)));
  }
}, { passive: false });
timeline.addEventListener("scroll", repaint);

const KEYS = {
  w: () => zoom(0.7), "+": () => zoom(0.7), "=": () => zoom(0.7), s: () => zoom(1 / 0.7), "-": () => zoom(1 / 0.7),
  a: () => pan(-0.2), d: () => pan(0.2), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2),
  ArrowUp: () => { timeline.scrollTop -= 60; }, ArrowDown: () => { timeline.scrollTop += 60; },
  PageUp: () => { timeline.scrollTop -= view.height / 2; }, PageDown: () => { timeline.scrollTop += view.height / 2; },
  0: fit, Home: fit,
  "/": () => { box.focus(); box.select(); }, n: () => nextMatch(1), N: () => nextMatch(-1),
  t: () => setTheme(isDark() ? "light" : "dark"),
  z: () => { if (chosen.promise >= 0) { reveal(chosen.promise); zoomTo(made[chosen.promise], ends[chosen.promise]); } },
  p: () => showPath(chosen.path ? -1 : chosen.promise >= 0 ? chosen.promise : D.path ? D.path.promise : -1),
  "?": () => { chosen.panel = "?"; panels(); changed(); },
  Escape: clear,
};

function clear() {
  if (chosen.find) { box.value = ""; search(""); } else if (chosen.path) showPath(-1); else select(-1);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === box) {
    if (event.key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") { clear(); timeline.focus(); }
    return;
  }
  const inPanel = event.target.closest?.("aside, header") && ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home"].includes(event.key);
  if (!KEYS[event.key] || inPanel) return;
  event.preventDefault();
  KEYS[event.key]();
});

box.addEventListener("input", () => search(box.value));
document.getElementById("larger").addEventListener("click", () => zoom(0.6));
document.getElementById("smaller").addEventListener("click", () => zoom(1 / 0.6));
document.getElementById("fit").addEventListener("click", fit);
document.getElementById("theme").addEventListener("click", KEYS.t);
