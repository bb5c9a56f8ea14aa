// swift-tools-version: 6.2
// The Swift side of Vow. C programs use the Makefile.

import PackageDescription

let package = Package(
    name: "vow",
    products: [
        .library(name: "Vow", targets: ["Vow"]),
        .library(name: "VowFoundation", targets: ["VowFoundation"]),
        .library(name: "VowOperators", targets: ["VowOperators"]),
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
        .target(name: "Vow", dependencies: ["VowCore", "CVow"]),
        .target(name: "VowFoundation", dependencies: ["Vow"]),
        .target(name: "VowOperators", dependencies: ["Vow"]),
        .testTarget(name: "VowCoreTests", dependencies: ["VowCore"]),
        .target(
            name: "VowTestSupport", dependencies: ["Vow", "CVow"], path: "Tests/VowTestSupport"),
        .testTarget(name: "VowTests", dependencies: ["Vow", "VowTestSupport"]),
        .testTarget(
            name: "VowFoundationTests", dependencies: ["VowFoundation", "VowTestSupport"]),
        .testTarget(
            name: "VowOperatorsTests", dependencies: ["VowOperators", "VowTestSupport"]),
        .testTarget(name: "VowCTests", dependencies: ["VowCore", "CVow"]),
    ],
    swiftLanguageModes: [.v6]
)
