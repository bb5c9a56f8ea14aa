// Lines on standard error, and the end of the program when a rule is broken.

import CVowPlatform

func writeToStandardError(_ bytes: UnsafePointer<CChar>, _ length: Int) {
    _ = vow_platform_write(2, bytes, length)
}

func writeToStandardError(_ text: StaticString) {
    text.withUTF8Buffer { bytes in
        bytes.withMemoryRebound(to: CChar.self) { chars in
            if let start = chars.baseAddress { writeToStandardError(start, chars.count) }
        }
    }
}

/// Ends the program, naming the rule that was broken. For what must be impossible, and for misuse that
/// a checked build finds.
@inline(never)
func fatal(_ rule: StaticString, _ detail: StaticString = "") -> Never {
    fatal(rule, detail, "", "")
}

func fatal(
    _ first: StaticString, _ second: StaticString, _ third: StaticString, _ fourth: StaticString
) -> Never {
    writeToStandardError("vow: ")
    writeToStandardError(first)
    writeToStandardError(second)
    writeToStandardError(third)
    writeToStandardError(fourth)
    writeToStandardError("\n")
    abort()
}
