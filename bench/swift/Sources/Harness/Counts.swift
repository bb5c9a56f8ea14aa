// What the allocator has given, and the resident set.

import CPeer
import Foundation

/// Nil where no counter is preloaded.
func readCounts() -> bench_counts? {
    var counts = bench_counts()
    return cpeer_read(&counts) ? counts : nil
}

func residentBytes() -> Double {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .ascii),
        let pages = Double(text.split(separator: " ")[1])
    else { stop("no statm") }
    return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
}
