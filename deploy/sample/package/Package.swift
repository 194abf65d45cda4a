// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "kit",
    products: [
        .library(name: "Kit", targets: ["Kit"]),
        .executable(name: "kit-tool", targets: ["kit-tool"]),
    ],
    targets: [
        .target(name: "Kit"),
        .executableTarget(name: "kit-tool", dependencies: ["Kit"]),
        .testTarget(name: "KitTests", dependencies: ["Kit"]),
    ]
)
