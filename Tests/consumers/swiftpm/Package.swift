// swift-tools-version: 5.9
// A Swift program of somebody else on the installed C library, by a system-library target.

import PackageDescription

let package = Package(
    name: "app",
    targets: [
        .systemLibrary(name: "CVow", pkgConfig: "vow"),
        .executableTarget(name: "app", dependencies: ["CVow"]),
    ]
)
