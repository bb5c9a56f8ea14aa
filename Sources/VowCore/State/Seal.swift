// In a checked build every object carries a seal, so that a released handle is recognised, and one of another copy of
// the library in the process.

#if VOW_CHECKED
    import CVowPlatform

    enum Seal {
        private static let liveMark: UInt64 = 0x766f_775f_6c69_7665
        private static let freedMark: UInt64 = 0x766f_775f_6672_6565

        static var live: UInt64 { liveMark ^ vow_platform_copy() }
        static var freed: UInt64 { freedMark ^ vow_platform_copy() }

        /// A function was given an object with another seal than that of a live one of ours.
        @inline(never)
        static func refuse(_ seal: UInt64, _ function: StaticString, _ rule: StaticString) -> Never
        {
            if vow_platform_is_other_copy(seal ^ liveMark) != 0 {
                fatal(function, ": the handle belongs to another copy of the library")
            }
            // One that is not checked has no seals.
            if seal != freed && vow_platform_has_other_copy() != 0 {
                fatal(
                    function,
                    ": the handle was released before, or belongs to another copy of the library")
            }
            fatal(function, rule)
        }
    }
#endif
