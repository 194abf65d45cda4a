import Foundation
import Reports
import TestSupport

/// Runs each reader with mutated inputs. A trap ends the program, so a complete table had none. An input over the limit is printed with its seed.
enum Fuzzing {
    /// The limit of processor time, in seconds, for one input of at most `maximumSeedBytes` and the mutations' additions. It is a hundred times
    /// what the slowest good input needs.
    static let limit = 2.0
    static let maximumSeedBytes = 16_000

    static func run(count: Int, directories: [String]) -> Bool {
        let files = FileTable.files(directories).compactMap { file in
            FileManager.default.contents(atPath: file.path).map { Array($0.prefix(maximumSeedBytes)) }
        }
        let seeds = files.filter { !$0.isEmpty }.map { (bytes: $0, format: ReportReader.format(of: $0)) }
        print("reader\tseeds\tinputs\tMB\tslowest ms\tfound\tover the limit")
        var isGood = true
        for subject in Subject.all {
            let own = seeds.filter { subject.takes($0.format) }.map(\.bytes)
            guard !own.isEmpty else {
                print("\(subject.name)\t0\t0\t0\t0\t0\tno seed")
                isGood = false
                continue
            }
            var (slowest, bytes, found, over) = (0.0, 0, 0, 0)
            for round in 0..<count {
                var mutator = Mutator(state: UInt64(round) &* 0x1_0000_0001)
                let other = seeds[round % seeds.count].bytes
                let input = mutator.mutated(own[round % own.count], other: other)
                // The system ends a reader that hangs, with status 142.
                if round % 64 == 0 { alarm(60) }
                let start = threadSeconds()
                found += subject.read(input)
                let time = threadSeconds() - start
                slowest = max(slowest, time)
                bytes += input.count
                if time > limit {
                    over += 1
                    print("\(subject.name): seed \(round) takes \(Int(time * 1000)) ms")
                }
            }
            alarm(0)
            if over > 0 || found == 0 { isGood = false }
            let columns = [
                subject.name, "\(own.count)", "\(count)", "\(bytes / 1_000_000)",
                String(format: "%.1f", slowest * 1000),
                "\(found)", "\(over)",
            ]
            print(columns.joined(separator: "\t"))
            fflush(nil)
        }
        return isGood
    }
}
