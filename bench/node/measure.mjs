// Time and memory of a pass. A pass is an async function of N: when it is through, so are its microtasks.

import process from "node:process";

const seconds = (from, to) => Number(to - from) / 1e9;

/** Runs passes for at least so long, and at least once; nanoseconds of one item. */
async function repeat(pass, n, least) {
    let passes = 0;
    let elapsed = 0;
    // Short passes are timed together: the clock costs time, too.
    const together = Math.max(1, Math.floor(10_000 / n));
    while (elapsed < least) {
        const start = process.hrtime.bigint();
        for (let i = 0; i < together; i++) await pass(n);
        elapsed += seconds(start, process.hrtime.bigint());
        passes += together;
    }
    return (elapsed * 1e9) / (passes * n);
}

/** Nanoseconds of one item. Collecting garbage is part of it. */
export async function time(pass, n, least) {
    await repeat(pass, n, n > 100_000 ? 0.001 : least); // Compiled by then.
    if (n > 100_000) return repeat(pass, n, least);
    const rounds = [];
    for (let i = 0; i < 3; i++) rounds.push(await repeat(pass, n, least / 3));
    return rounds.sort((a, b) => a - b)[1];
}

/** So many items take less than what starts a collection. */
export const uncollected = 10_000;

/** Bytes taken from the heap by one item: what the heap has grown by. */
export async function count(pass, n) {
    const samples = [];
    for (let i = 0; i < 20; i++) {
        globalThis.gc();
        const before = process.memoryUsage().heapUsed;
        await pass(n);
        samples.push((process.memoryUsage().heapUsed - before) / n);
    }
    // The compiler at work makes some of them more.
    return samples.sort((a, b) => a - b)[samples.length >> 1];
}

/** W9: what is held after garbage is collected. */
export async function hold(workload, n) {
    const heap = () => {
        globalThis.gc();
        const { heapUsed, rss } = process.memoryUsage();
        return { heapUsed, rss };
    };
    await workload.warmUp();
    const before = heap();
    const start = process.hrtime.bigint();
    const keep = workload.make(n);
    const elapsed = seconds(start, process.hrtime.bigint());
    const after = heap();
    await workload.finish(keep, n);
    return {
        ns_per_item: (elapsed * 1e9) / n,
        bytes_per_item: (after.heapUsed - before.heapUsed) / n - workload.own,
        resident_per_item: (after.rss - before.rss) / n,
    };
}
