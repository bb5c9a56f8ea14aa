// In a checked build every object carries a seal, so that a released handle is recognised, and one of another type, or
// of another copy of the library in the process.

#if VOW_CHECKED
    import CVowPlatform

    /// What a seal belongs to.
    enum Sealed: UInt64, CaseIterable {
        case promise, executor, source, value, loop, scope, registration, box
    }

    enum Seal {
        static let liveMark: UInt64 = 0x766f_775f_6c69_7665
        private static let freedMark: UInt64 = 0x766f_775f_6672_6565
        /// No address has these bits; they say what is sealed.
        static let kindShift: UInt64 = 56

        @inline(__always)
        static func live(_ kind: Sealed) -> UInt64 {
            liveMark ^ vow_platform_copy() ^ kind.rawValue << kindShift
        }
        static var freed: UInt64 { freedMark ^ vow_platform_copy() }
    }
#endif
