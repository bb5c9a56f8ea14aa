// Whether anybody looks on: what every step of the core asks before it tells of itself. One load and one branch
// while nobody does.

import CVowPlatform

/// A tracer has asked for the probes, or tracing is on.
@inline(__always)
var isWatched: Bool { vow_platform_is_watched() != 0 }

/// Tracing is on: relaxed, because who finds it on asks again under the tracing's lock.
@inline(__always)
var isTracing: Bool { vow_platform_is_tracing() != 0 }
