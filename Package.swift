// swift-tools-version: 6.2
// The Swift side of Vow. C programs use the Makefile.

import PackageDescription

let package = Package(
    name: "vow",
    products: [
        .library(name: "Vow", targets: ["Vow"]),
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
        .target(name: "VowOperators", dependencies: ["Vow"]),
        .testTarget(name: "VowCoreTests", dependencies: ["VowCore"]),
        .testTarget(name: "VowTests", dependencies: ["Vow"]),
        .testTarget(name: "VowOperatorsTests", dependencies: ["VowOperators", "Vow"]),
        .testTarget(name: "VowCTests", dependencies: ["VowCore", "CVow"]),
    ],
    swiftLanguageModes: [.v6]
)
