// Begins: the header's figures, the legend, the first picture.
function figures() {
  const counts = D.outcomes.map((_, number) => P.outcome.reduce((sum, each) => sum + (each === number ? 1 : 0), 0));
  const retried = D.retries.reduce((sum, [, moments]) => sum + moments.length, 0);
  const parts = [["duration", duration(D.duration), ""], ["promises", number(COUNT), COUNT === 1 ? "promise" : "promises"]];
  D.outcomes.forEach((name, index) => { if (counts[index] > 0) parts.push([name, number(counts[index]), name]); });
  parts.push(["retries", number(retried), retried === 1 ? "retry" : "retries"]);
  parts.push(["time-outs", number(D.timeouts.length), D.timeouts.length === 1 ? "time-out" : "time-outs"]);
  document.getElementById("figures").replaceChildren(...parts.map(([key, value, word]) => {
    const part = make("span");
    part.dataset.figure = key;
    part.append(make("b", value), word ? ` ${word}` : "");
    return part;
  }));
}

function legend() {
  const part = (colour, text) => {
    const found = make("span");
    if (colour) found.append(chip(colour));
    found.append(text);
    return found;
  };
  const sign = (className, text) => {
    const found = make("span");
    found.append(make("span", undefined, { className }), text);
    return found;
  };
  document.getElementById("legend").replaceChildren(
    ...D.outcomes.map((name, index) => part(colours.outcomes[index], name)),
    part(colours.handler, "handler runs"), part(colours.await, "thread waits"), part(colours.path, "critical path"),
    sign("diamond", "tried again"), sign("hourglass", "time-out"), part("", "? all keys"));
}

function notice() {
  const texts = [...D.notes];
  if (COUNT === 0) texts.push("No promise was made while it was traced.");
  const element = document.getElementById("notice");
  element.textContent = texts.join(" ");
  element.hidden = texts.length === 0;
}

function resize() {
  view.width = timeline.clientWidth;
  view.height = timeline.clientHeight;
  layOut();
  repaint();
}

document.getElementById("program").textContent = short(D.program, 100);
document.getElementById("program").title = short(D.file, 1000);
dark.addEventListener("change", () => { if (!view.theme) setTheme(undefined); });
let theme;
watchers.push(() => {
  if (theme === isDark()) return;
  theme = isDark();
  legend();
  panels();
});
notice();
figures();
resize();
follow();
new ResizeObserver(resize).observe(timeline);
paint();
document.body.dataset.ready = "yes";
