// swift-tools-version: 6.2
// A package as a user of Vow writes it; scripts/swift-consumer copies it out of the tree, and puts the README's program in.

import PackageDescription

let package = Package(
    name: "consumer",
    dependencies: [.package(name: "vow", path: "../..")],
    targets: [
        .executableTarget(
            name: "readme", dependencies: [.product(name: "Vow", package: "vow")]),
        .executableTarget(
            name: "isolation", dependencies: [.product(name: "Vow", package: "vow")]),
        .testTarget(
            name: "ConsumerTests",
            dependencies: [
                .product(name: "Vow", package: "vow"),
                .product(name: "VowOperators", package: "vow"),
                .product(name: "VowFoundation", package: "vow"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
