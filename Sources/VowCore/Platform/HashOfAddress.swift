// Spreads addresses over tables. packaging/gdb knows it, too.

/// Multiplied by the golden ratio, because addresses have zeroes at their end: the high bits are good, the low ones not.
func hashOfAddress(_ address: UnsafeRawPointer) -> UInt64 {
    UInt64(UInt(bitPattern: address)) &* 0x9e37_79b9_7f4a_7c15
}
