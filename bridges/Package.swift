// swift-tools-version: 6.2
// Vow beside packages of the Swift ecosystem: products of their own, so that Vow itself needs none of them.

import PackageDescription

let package = Package(
    name: "vow-bridges",
    products: [
        .library(name: "VowAsyncAlgorithms", targets: ["VowAsyncAlgorithms"]),
        .library(name: "VowInstrumentation", targets: ["VowInstrumentation"]),
        .library(name: "VowLogging", targets: ["VowLogging"]),
        .library(name: "VowTracing", targets: ["VowTracing"]),
        .library(name: "VowMetrics", targets: ["VowMetrics"]),
    ],
    dependencies: [
        .package(name: "vow", path: ".."),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        .target(
            name: "VowAsyncAlgorithms",
            dependencies: [
                .product(name: "Vow", package: "vow"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ]),
        .target(
            name: "VowInstrumentation",
            dependencies: [
                .product(name: "Vow", package: "vow"),
                .product(name: "Instrumentation", package: "swift-distributed-tracing"),
            ]),
        .target(
            name: "VowLogging",
            dependencies: [
                "VowInstrumentation", .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "VowTracing",
            dependencies: [
                "VowInstrumentation",
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .target(
            name: "VowMetrics",
            dependencies: [
                .product(name: "Vow", package: "vow"),
                .product(name: "Metrics", package: "swift-metrics"),
            ]),
        .testTarget(
            name: "BridgesTests",
            dependencies: [
                "VowAsyncAlgorithms", "VowLogging", "VowTracing", "VowMetrics",
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
