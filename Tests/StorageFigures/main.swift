import Foundation
import Glibc

// Measures what the history of tests costs the database: storing one integration, the time that the writer is held, each answer, and the size.
//
//   StorageFigures [--tests N] [--configurations N] [--integrations N] [--seconds N] [--keep FILE]
//
// The defaults are 20,000 tests, 5 configurations, 5,000 integrations and 420 seconds. When the time is over, it measures with what is stored by
// then; with `--keep` the next run continues with the same file. It is not part of `swift test`, because a figure needs a quiet machine and a
// release build. It prints one line per figure, and the time of an empty durable commit in the same run. Without `--keep`, its files are in a
// temporary directory.

let arguments = Array(CommandLine.arguments.dropFirst())
func number(_ name: String, _ usual: Int) -> Int {
    arguments.firstIndex(of: "--\(name)").flatMap { arguments.dropFirst($0 + 1).first }.flatMap { Int($0) } ?? usual
}
let kept = arguments.firstIndex(of: "--keep").flatMap { arguments.dropFirst($0 + 1).first }
do {
    let root = FileManager.default.temporaryDirectory.path + "/martlet-figures-\(getpid())"
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    // At worst the files stay in the temporary directory, with our name.
    defer { try? FileManager.default.removeItem(atPath: root) }
    let figures = try await StorageFigures(
        path: kept ?? root + "/martlet.sqlite",
        history: SampleHistory(tests: number("tests", 20_000), configurations: number("configurations", 5)))
    try await figures.run(integrations: number("integrations", 5000), limit: .seconds(number("seconds", 420)))
} catch {
    print("StorageFigures: \(error)")
    exit(1)
}
