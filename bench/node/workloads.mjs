// What a pass of each workload does. An `await` at the end of a pass comes after all its handlers: microtasks
// run in the order in which they were queued.

function expect(right, what) {
    if (!right) {
        console.error(`benchmark: ${what}`);
        process.abort();
    }
}

/** The fastest way to a pending promise: Promise.withResolvers() makes an object more. */
let resolve;
const keepResolve = (given) => {
    resolve = given;
};

const addOne = (value) => value + 1;

let ran = 0;
const countOne = (value) => {
    ran++;
    return value;
};

async function createResolveRelease(n) {
    let last;
    for (let i = 0; i < n; i++) {
        last = new Promise(keepResolve);
        resolve(i);
    }
    expect((await last) === n - 1, "W1");
}

async function chain(n) {
    let last = new Promise(keepResolve);
    const first = resolve;
    for (let i = 0; i < n; i++) last = last.then(addOne);
    first(0);
    expect((await last) === n, "W2");
}

const settled = Promise.resolve(1);

async function thenOnSettled(n) {
    ran = 0;
    for (let i = 0; i < n; i++) settled.then(countOne);
    await settled;
    expect(ran === n, "W3");
}

async function manyHandlers(n) {
    ran = 0;
    const promise = new Promise(keepResolve);
    for (let i = 0; i < n; i++) promise.then(countOne);
    resolve(1);
    await promise;
    expect(ran === n, "W4");
}

async function all(n) {
    const promises = new Array(n);
    const resolves = new Array(n);
    for (let i = 0; i < n; i++) {
        promises[i] = new Promise(keepResolve);
        resolves[i] = resolve;
    }
    const together = Promise.all(promises);
    for (let i = 0; i < n; i++) resolves[i](i);
    let sum = 0;
    for (const value of await together) sum += value;
    expect(sum === (n * (n - 1)) / 2, "W5");
}

const countDown = (left) => {
    ran++;
    return left === 0 ? 0 : Promise.resolve(left - 1).then(countDown);
};

async function recursion(n) {
    ran = 0;
    expect((await Promise.resolve(n).then(countDown)) === 0, "W7");
    expect(ran === n + 1, "W7: levels");
}

export const workloads = {
    W1: createResolveRelease,
    W2: chain,
    W3: thenOnSettled,
    W4: manyHandlers,
    W5: all,
    W7: recursion,
};

export const held = {
    W9: {
        /** Bytes of one item that are the benchmark's: its place in the array. */
        own: 8,
        async warmUp() {
            await this.finish(this.make(10_000), 10_000);
        },
        make(n) {
            const resolves = new Array(n);
            for (let i = 0; i < n; i++) {
                new Promise(keepResolve).then(countOne);
                resolves[i] = resolve;
            }
            return resolves;
        },
        async finish(resolves, n) {
            ran = 0;
            for (const resolve of resolves) resolve(1);
            await null;
            expect(ran === n, "W9");
        },
    },
};
