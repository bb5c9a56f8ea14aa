// swift-tools-version: 6.2
// The peers of the benchmark that are written in Swift, one program each. Apart from the package that users get.

import PackageDescription

func peer(_ name: String, _ dependencies: Target.Dependency...) -> Target {
    .executableTarget(name: name, dependencies: ["Harness"] + dependencies)
}

let package = Package(
    name: "vow-bench",
    dependencies: [
        .package(name: "vow", path: "../.."),
        // Its traits are for metrics that the harness does not ask for, and need packages of their own.
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0"),
    ],
    targets: [
        .target(name: "CPeer"),
        .target(
            name: "Harness",
            dependencies: [
                "CPeer",
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        peer("vow-swift", .product(name: "Vow", package: "vow")),
        peer(
            "nio", .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOEmbedded", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio")),
        peer("swift-tasks"),
        peer(
            "opencombine", .product(name: "OpenCombine", package: "OpenCombine"),
            .product(name: "OpenCombineDispatch", package: "OpenCombine")),
    ],
    swiftLanguageModes: [.v6]
)
