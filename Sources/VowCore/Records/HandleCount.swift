// In a checked build a promise knows how many handles of it the program has: what reads it keeps the memory, so that a
// handle which was given away would work for as long as that.

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// The program has one more.
    @inline(__always)
    func noteHandle() {
        #if VOW_CHECKED
            _ = pointee.handles.addRelaxed(1)
        #endif
    }

    /// The program may have borrowed it from a value: how many there are is not known any more.
    @inline(__always)
    func noteLent() {
        #if VOW_CHECKED
            _ = pointee.handles.addRelaxed(1 << 32)
        #endif
    }
}
