// The part of the address after #: zoom=BEGIN-END in ns, select=ID, path=ID, find=TEXT, panel=NAME, theme=light or dark.
function address() {
  const found = new URLSearchParams();
  if (view.begin > 0 || view.end < D.duration) found.set("zoom", `${Math.round(view.begin)}-${Math.round(view.end)}`);
  if (chosen.promise >= 0) found.set("select", P.id[chosen.promise]);
  if (chosen.path) found.set("path", P.id[chosen.path.promise]);
  if (chosen.find) found.set("find", chosen.find);
  if (chosen.panel && chosen.panel !== "Overview") found.set("panel", chosen.panel);
  if (view.theme) found.set("theme", view.theme);
  return `#${found}`;
}

let written = "";
let pause = 0;
watchers.push(() => {
  clearTimeout(pause);
  pause = setTimeout(() => {
    written = address();
    if (written !== location.hash && (written !== "#" || location.hash)) {
      try { history.replaceState(null, "", written); } catch { /* a browser that allows no change: nothing is lost */ }
    }
  }, 150);
});

function follow() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  setTheme(["light", "dark"].includes(wanted.get("theme")) ? wanted.get("theme") : undefined);
  const stretch = /^(-?\d+)-(\d+)$/.exec(wanted.get("zoom") ?? "");
  if (stretch) show(Number(stretch[1]), Number(stretch[2])); else fit();
  box.value = wanted.get("find") ?? "";
  search(box.value, true);
  const path = numberOf.get(wanted.get("path"));
  chosen.path = path === undefined ? null : pathTo(path);
  chosen.promise = numberOf.get(wanted.get("select")) ?? -1;
  chosen.panel = wanted.get("panel") ?? (chosen.promise >= 0 ? "Details" : chosen.path ? "Critical path" : "");
  panels();
  if (chosen.promise >= 0) { const bar = barOf(chosen.promise); scrollTo(bar.y, bar.height); }
  changed();
}
addEventListener("hashchange", () => { if (location.hash !== written) follow(); });
