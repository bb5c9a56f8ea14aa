// swift-tools-version: 6.2
// The Swift side of Vow. C programs use the Makefile.
//
// Sanitizers see each promise freed only where no memory is kept for the next one:
// swift test --sanitize=address -Xswiftc -DVOW_SANITIZED

import PackageDescription

let package = Package(
    name: "vow",
    products: [
        .library(name: "Vow", targets: ["Vow"]),
        .library(name: "VowOperators", targets: ["VowOperators"]),
        .library(name: "VowFoundation", targets: ["VowFoundation"]),
        .library(name: "VowPromiseKit", targets: ["VowPromiseKit"]),
    ],
    targets: [
        .systemLibrary(name: "CVow", path: "include"),
        .target(name: "CVowPlatform"),
        .target(
            name: "VowCore",
            dependencies: ["CVow", "CVowPlatform"],
            // The library accepts NULL wherever C can pass it, so it sees the header without its marks.
            cSettings: [.define("VOW_IMPLEMENTATION")],
            swiftSettings: [.treatWarning("EmbeddedRestrictions", as: .error)]
        ),
        .target(name: "Vow", dependencies: ["VowCore", "CVow", "CVowPlatform"]),
        .target(name: "VowOperators", dependencies: ["Vow"]),
        .target(name: "VowFoundation", dependencies: ["Vow"]),
        .target(name: "VowPromiseKit", dependencies: ["Vow"]),

        .testTarget(name: "VowCoreTests", dependencies: ["VowCore"]),
        .testTarget(name: "VowCTests", dependencies: ["VowCore", "CVow"]),
        .target(
            name: "VowTestSupport", dependencies: ["Vow", "CVow"], path: "Tests/VowTestSupport"),
        .target(
            name: "CChain", dependencies: ["CVow"], path: "Tests/CChain",
            cSettings: [.headerSearchPath("../../include")]),
        .testTarget(name: "VowTests", dependencies: ["Vow", "CChain", "VowTestSupport"]),
        .testTarget(
            name: "VowPromiseKitTests", dependencies: ["VowPromiseKit", "VowTestSupport"]),
        .testTarget(name: "VowOperatorsTests", dependencies: ["VowOperators", "VowTestSupport"]),
        .testTarget(
            name: "VowFoundationTests", dependencies: ["VowFoundation", "VowTestSupport"]),
    ],
    swiftLanguageModes: [.v6]
)
