// swift-tools-version: 6.2
// Programs in Swift, one idea each. They see of the library what every client sees.

import PackageDescription

func example(_ name: String, _ libraries: String...) -> Target {
    .executableTarget(
        name: name, dependencies: libraries.map { .product(name: $0, package: "vow") })
}

let package = Package(
    name: "vow-examples",
    dependencies: [.package(name: "vow", path: "..")],
    targets: [
        example("login", "Vow", "VowOperators"),
        example("requests", "Vow"),
        example("permission", "Vow"),
        example("progress", "Vow"),
        example("screen", "Vow"),
    ],
    swiftLanguageModes: [.v6]
)
