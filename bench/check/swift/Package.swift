// swift-tools-version: 6.2
// The Swift face's workloads, for the budgets (memory, instructions, changes), and its times beside C's and
// those of Swift's own (times). ../README.md says how they are measured.

import PackageDescription

/// What lets C read libdispatch's headers: scripts/lib/toolchain.sh.
let dispatch =
    Context.environment["DISPATCH_CFLAGS"]?.split(separator: " ").map(String.init) ?? []
let root = Context.packageDirectory + "/../../.."
let vow: [Target.Dependency] = [.product(name: "Vow", package: "vow")]

/// One program for each measure, and the C file that takes it.
func measure(_ name: String) -> [Target] {
    let file = name.prefix(1).uppercased() + name.dropFirst() + "C"
    return [
        .target(
            name: file,
            cSettings: [
                .unsafeFlags(
                    ["-I\(root)/include", "-I\(root)/Sources/CVowPlatform/include"] + dispatch)
            ]),
        .executableTarget(name: name, dependencies: ["Workloads", .init(stringLiteral: file)]),
    ]
}

let package = Package(
    name: "vow-check",
    dependencies: [.package(name: "vow", path: "../../..")],
    targets: [
        .target(name: "CCheck"),
        .target(name: "Work", dependencies: vow),
        .target(name: "Workloads", dependencies: vow + ["Work", "CCheck"]),
        .executableTarget(name: "times", dependencies: vow + ["Work"], path: "Sources/Times"),
    ] + ["memory", "instructions", "changes"].flatMap(measure),
    swiftLanguageModes: [.v6]
)
