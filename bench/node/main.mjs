// The promises of V8, as Node runs them: one thread, handlers as microtasks.
//
// Runs one workload and prints the protocol's line (bench/README.md).

import { count, hold, time, uncollected } from "./measure.mjs";
import { held, workloads } from "./workloads.mjs";

const [name, size] = process.argv.slice(2);
const n = Number(size);
if (!(n > 0)) {
    console.error("usage: node WORKLOAD N");
    process.exit(2);
}

const line = { workload: name, n };
if (name in held) {
    Object.assign(line, await hold(held[name], n));
} else if (!(name in workloads)) {
    line.unsupported = "not offered";
} else {
    line.ns_per_item = await time(workloads[name], n, Number(process.env.BENCH_SECONDS ?? 0.2));
    line.bytes_per_item = await count(workloads[name], Math.min(n, uncollected));
}
line.harness = "loop in JavaScript";
line.compiler = `V8 ${process.versions.v8}`;
line.flags = process.execArgv.join(" ");
line.version = process.version;
console.log(JSON.stringify(line));
