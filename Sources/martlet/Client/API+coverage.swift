import API
import Model

extension API.Coverage {
    /// A row such as `coverage debug`, `81.2 %`, `812 of 1000 lines in 12 files`, `+0.3 points against kit#40`.
    var row: [String] {
        let now = Model.Coverage.Share(covered: lines.covered, total: lines.total)
        let old = linesBefore.map { Model.Coverage.Share(covered: $0.covered, total: $0.total) }
        let change = CoverageDelta.File(path: "", before: old, after: now).pointsText
        return [
            "coverage \(configuration)", now.text,
            "\(lines.covered) of \(lines.total) lines in \(files.counting("file"))",
        ] + (change.flatMap { change in before.map { ["\(change) points against \($0)"] } } ?? [])
    }
}
