// Writing for people.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

func writeToStandardError(_ text: String) {
    var text = text
    // Whether it can be read by anybody is not this program's business.
    _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
