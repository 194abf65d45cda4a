import Foundation
import Glibc

// What tests through time cost the database: storing one integration, how long the writer is held, each answer, the size.
//
//   StorageFigures [--tests N] [--configurations N] [--integrations N] [--seconds N] [--keep FILE]
//
// 20,000 tests, 5 configurations and 5,000 integrations where nothing is said; after so many seconds (420) it takes what is
// stored until then, and with `--keep` the next run goes on with the same file. Not part of `swift test`: a figure needs a quiet machine and a release build. Prints one line a figure,
// beside a durable commit of nothing else in the same run; everything it makes is in a temporary directory, unless kept.

let arguments = Array(CommandLine.arguments.dropFirst())
func number(_ name: String, _ usual: Int) -> Int {
    arguments.firstIndex(of: "--\(name)").flatMap { arguments.dropFirst($0 + 1).first }.flatMap { Int($0) } ?? usual
}
let kept = arguments.firstIndex(of: "--keep").flatMap { arguments.dropFirst($0 + 1).first }
do {
    let root = FileManager.default.temporaryDirectory.path + "/martlet-figures-\(getpid())"
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    // In the temporary directory, and named as ours, at worst.
    defer { try? FileManager.default.removeItem(atPath: root) }
    let figures = try await StorageFigures(
        path: kept ?? root + "/martlet.sqlite",
        history: SampleHistory(tests: number("tests", 20_000), configurations: number("configurations", 5)))
    try await figures.run(integrations: number("integrations", 5000), limit: .seconds(number("seconds", 420)))
} catch {
    print("StorageFigures: \(error)")
    exit(1)
}
