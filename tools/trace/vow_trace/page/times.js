// Durations as people read them: three digits and a unit.
const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];

function duration(nanoseconds) {
  for (const [size, unit] of UNITS) {
    if (nanoseconds >= size) {
      const number = nanoseconds / size;
      return `${number.toFixed(number < 10 ? 2 : number < 100 ? 1 : 0)} ${unit}`;
    }
  }
  return `${Math.round(nanoseconds)} ns`;
}

// A moment, with as many digits as tell it from its neighbours at this distance.
function moment(nanoseconds, distance) {
  const whole = Math.max(Math.abs(nanoseconds), distance);
  const [size, unit] = UNITS.find(([each]) => whole >= each) ?? [1, "ns"];
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / distance) - 1e-9)));
  return `${(nanoseconds / size).toFixed(digits)} ${unit}`;
}

// The smallest 1, 2 or 5 times a power of ten that is at least this.
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= least);
}
