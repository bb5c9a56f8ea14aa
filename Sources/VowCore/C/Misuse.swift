// What a checked build says of a handle that is none, or one of another type.

#if VOW_CHECKED
    import CVow
    import CVowPlatform

    extension Seal {
        /// A function was given a handle that is not that of a live object of ours, of the kind that it takes.
        @inline(never)
        static func refuse(
            _ seal: UInt64, _ handle: OpaquePointer?, _ wanted: Sealed, _ function: StaticString,
            _ rule: StaticString
        ) -> Never {
            let copy = (seal ^ liveMark) & (1 << kindShift - 1)
            if copy != vow_platform_copy() && vow_platform_is_other_copy(copy) != 0 {
                fatal(function, ": the handle belongs to another copy of the library")
            }
            // A loop that is destroyed keeps its seal, and a promise's may be the resolver's.
            if seal != live(wanted) || wanted.hasTwoHandles { refuseOther(handle, function) }
            // One that is not checked has no seals.
            if seal != freed && vow_platform_has_other_copy() != 0 {
                fatal(
                    function,
                    ": the handle was released before, or belongs to another copy of the library")
            }
            fatal(function, rule)
        }

        /// Says what the handle is, if it is a live one.
        private static func refuseOther(_ handle: OpaquePointer?, _ function: StaticString) {
            let address = UInt(bitPattern: handle)
            for kind in Sealed.allCases {
                var word: UInt64 = 0
                let place = (address & ~HandleMark.bit) &+ UInt(bitPattern: kind.offset)
                if vow_platform_read(UInt64(place), &word, 8) != 0 && word == live(kind) {
                    fatal(function, kind.sentence(isMarked: address & HandleMark.bit != 0))
                }
            }
        }
    }

    extension Sealed {
        /// Where its seal stands: last, but in records.
        fileprivate var offset: Int {
            let word = MemoryLayout<UInt64>.size
            switch self {
            case .promise: return RecordOffset.seal
            case .executor: return MemoryLayout<ExecutorRecord>.size - word
            case .source: return MemoryLayout<SourceRecord>.size - word
            case .value: return MemoryLayout<Box>.size - word
            case .loop: return MemoryLayout<LoopRecord>.size - word
            case .scope: return MemoryLayout<Scope>.size - word
            case .registration: return MemoryLayout<Hook>.size - word
            // Before what its handle leads to.
            case .box: return -word
            }
        }

        fileprivate var hasTwoHandles: Bool { self == .promise || self == .source }

        fileprivate func sentence(isMarked: Bool) -> StaticString {
            switch self {
            case .promise:
                return isMarked ? ": the handle is a resolver's" : ": the handle is a promise's"
            case .source:
                return isMarked ? ": the handle is a token's" : ": the handle is a cancel source's"
            case .executor: return ": the handle is an executor's"
            case .value: return ": the handle is the content of a value"
            case .loop: return ": the handle is a loop's"
            case .scope: return ": the handle is a scope's"
            case .registration: return ": the handle is a registration's"
            case .box: return ": the handle is a box"
            }
        }
    }
#endif
