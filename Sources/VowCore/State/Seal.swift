// In a checked build every object carries a seal, so that a released handle is recognised.

#if VOW_CHECKED
    enum Seal {
        static let live: UInt64 = 0x766f_775f_6c69_7665
        static let freed: UInt64 = 0x766f_775f_6672_6565
    }
#endif
