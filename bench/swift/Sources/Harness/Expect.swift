// Stops the program where something is wrong.

import Glibc

/// A benchmark that does nothing is fast.
@inlinable
public func expect(_ right: Bool, _ what: StaticString) {
    if !right { stop("\(what)") }
}

/// Prints where the runner sees it: while it measures, the harness has the standard descriptors lead to nowhere.
@usableFromInline
func stop(_ what: String) -> Never {
    let line = "benchmark: \(what)\n"
    _ = line.withCString { write(errorDescriptor, $0, strlen($0)) }
    abort()
}

/// Before the harness has had anything.
func keepErrorDescriptor() { _ = errorDescriptor }

private let errorDescriptor = dup(STDERR_FILENO)
