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
    // Whether the text can be read is not this program's business.
    _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
