// Resolvers are promises' records, and tokens are sources', seen with other rights. In a checked build their handles are
// marked, so that one that stands for the other is recognised.

enum HandleMark {
    /// Objects begin at multiples of 16.
    static let bit: UInt = 8

    @inline(__always)
    private static func marked(_ address: UnsafeMutableRawPointer?) -> OpaquePointer? {
        #if VOW_CHECKED
            return OpaquePointer(bitPattern: UInt(bitPattern: address) | (address == nil ? 0 : bit))
        #else
            return OpaquePointer(address)
        #endif
    }

    /// What a mark is taken from, which may have none.
    @inline(__always)
    static func unmarked(_ handle: OpaquePointer?) -> OpaquePointer? {
        #if VOW_CHECKED
            return OpaquePointer(bitPattern: UInt(bitPattern: handle) & ~bit)
        #else
            return handle
        #endif
    }

    #if VOW_CHECKED
        static func isMarked(_ handle: OpaquePointer?) -> Bool {
            UInt(bitPattern: handle) & bit != 0
        }
    #endif

    @inline(__always)
    static func resolver(_ promise: RecordPointer?) -> OpaquePointer? {
        marked(UnsafeMutableRawPointer(promise))
    }

    @inline(__always)
    static func token(_ source: SourcePointer?) -> OpaquePointer? {
        marked(UnsafeMutableRawPointer(source))
    }
}
