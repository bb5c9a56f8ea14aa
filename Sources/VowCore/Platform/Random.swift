// Random numbers for spreading retries: not for secrets.

/// Splitmix64: a counter whose values are mixed. Relaxed: nothing is published by it.
private let randomState = AtomicWord(0)

/// From 0 to less than 1.
func randomFraction() -> Double {
    // Seeded when first used; two threads that do so at once only add up.
    if randomState.loadRelaxed() == 0 {
        var place: UInt8 = 0
        let address = withUnsafePointer(to: &place) { UInt64(UInt(bitPattern: $0)) }
        _ = randomState.addRelaxed(UInt64(bitPattern: monotonicNow()) &+ address << 32 | 1)
    }
    var bits = randomState.addRelaxed(0x9e37_79b9_7f4a_7c15)
    bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
    bits ^= bits >> 31
    return Double(bits >> 11) * 0x1p-53
}
