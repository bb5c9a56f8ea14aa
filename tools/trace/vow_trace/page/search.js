// Finds promises by label, kind or id; what does not match is dimmed.
const box = document.getElementById("search");

function search(text, silent = false) {
  const wanted = text.trim().toLowerCase();
  chosen.find = text.trim();
  chosen.match = -1;
  chosen.matched = [];
  chosen.matches = null;
  if (wanted) {
    chosen.matches = new Uint8Array(COUNT);
    const lower = D.texts.map((each) => each.toLowerCase().includes(wanted));
    for (let index = 0; index < COUNT; index += 1) {
      const name = P.label[index] || P.kind[index];
      if (lower[name] || P.id[index].toLowerCase() === wanted) {
        chosen.matches[index] = 1;
        chosen.matched.push(index);
      }
    }
    chosen.matched.sort((a, b) => made[a] - made[b]);
  }
  counted();
  if (!silent) changed();
}

function counted() {
  const total = chosen.matched.length;
  document.getElementById("found").textContent = !chosen.find ? "" : total === 0 ? "none" :
    chosen.match < 0 ? `${total.toLocaleString("en")} found` : `${chosen.match + 1} of ${total.toLocaleString("en")}`;
}

function nextMatch(by) {
  const total = chosen.matched.length;
  if (total === 0) return;
  chosen.match = chosen.match < 0 ? (by > 0 ? 0 : total - 1) : (chosen.match + by + total) % total;
  counted();
  select(chosen.matched[chosen.match], { reveal: true });
}
