// swift-tools-version: 6.2
// The Swift side of Vow. C programs use the Makefile.

import PackageDescription

let package = Package(
    name: "vow",
    products: [
        .library(name: "Vow", targets: ["Vow"])
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
        .testTarget(name: "VowCoreTests", dependencies: ["VowCore"]),
        .target(
            name: "CChain", dependencies: ["CVow"], path: "Tests/CChain",
            cSettings: [.headerSearchPath("../../include")]),
        .testTarget(name: "VowTests", dependencies: ["Vow", "CChain"]),
        .testTarget(name: "VowCTests", dependencies: ["VowCore", "CVow"]),
    ],
    swiftLanguageModes: [.v6]
)
