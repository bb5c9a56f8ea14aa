// The trace's data: columns, as encoding.py wrote them, and who waits for whom in both directions.
const D = JSON.parse(document.getElementById("data").textContent);
const P = D.promises;
const COUNT = P.id.length;
const PENDING = D.outcomes.indexOf("pending");
const made = Float64Array.from(P.made);
const settled = Float64Array.from(P.settled);
const ends = settled.map((each) => (each < 0 ? D.duration : each));
const outcome = Uint8Array.from(P.outcome);
const HOW = ["reads", "waits for", "follows"];

const textOf = (number) => D.texts[number];
const nameOf = (index) => textOf(P.label[index]) || textOf(P.kind[index]);
const titleOf = (index) => `${nameOf(index)}`;
const numberOf = new Map(P.id.map((id, index) => [id, index]));

// Neighbours of each promise in one array, by counting: the ones of i are from starts[i] to starts[i + 1].
function neighbours(from, to) {
  const edges = D.deps.length / 3;
  const starts = new Uint32Array(COUNT + 1);
  for (let edge = 0; edge < edges; edge += 1) starts[D.deps[edge * 3 + from] + 1] += 1;
  for (let index = 0; index < COUNT; index += 1) starts[index + 1] += starts[index];
  const next = starts.slice();
  const all = new Uint32Array(edges);
  for (let edge = 0; edge < edges; edge += 1) all[next[D.deps[edge * 3 + from]]++] = edge;
  return (index) => Array.from(all.subarray(starts[index], starts[index + 1]), (edge) => ({
    promise: D.deps[edge * 3 + to], how: D.deps[edge * 3 + 2],
  }));
}
const upstream = neighbours(0, 1);
const downstream = neighbours(1, 0);

// The promises of a group's lane are neighbours in the columns: where each lane begins.
const laneStarts = D.groups.map((group) => new Uint32Array(group.lanes + 1));
{
  let index = 0;
  D.groups.forEach((group, number) => {
    for (let lane = 0; lane < group.lanes; lane += 1) {
      laneStarts[number][lane] = index;
      while (index < COUNT && P.group[index] === number && P.lane[index] === lane) index += 1;
    }
    laneStarts[number][group.lanes] = index;
  });
}

// The handlers of each promise, and where settling marks are on each thread.
const runsOf = new Map();
D.threads.forEach((thread, place) => {
  thread.promise.forEach((promise, index) => {
    if (promise < 0 || thread.await[index]) return;
    if (!runsOf.has(promise)) runsOf.set(promise, []);
    runsOf.get(promise).push([place, index]);
  });
});
const threadOfTid = new Map(D.threads.map((thread, place) => [thread.tid, place]));
const settlings = D.threads.map(() => []);
for (let index = 0; index < COUNT; index += 1) {
  const place = threadOfTid.get(P.settledOn[index]);
  if (settled[index] >= 0 && place !== undefined) settlings[place].push(index);
}
settlings.forEach((each) => each.sort((a, b) => settled[a] - settled[b]));
const threadName = (tid) => {
  const place = threadOfTid.get(tid);
  const name = place === undefined ? "" : D.threads[place].name;
  return name ? `${name} (${D.tids[tid]})` : D.tids[tid] ?? "";
};
const retriesOf = new Map(D.retries);
const timedOut = new Set(D.timeouts);
