import Basics
import Hummingbird
import Synchronization

/// Sends parts of files with flat memory: one chunk per download at a time, read on lanes beside the cooperative pool.
final class FileSender: Sendable {
    /// 256 KiB: large enough that the way through the lane is below a tenth of the copy's time.
    static let chunkBytes = 256 * 1024
    /// Four disks' worth of waiting: a read that hangs (a dead network file system) holds one lane, not the service.
    private static let laneCount = 4

    private let lanes: [BlockingLane]
    private let turn = Atomic<Int>(0)

    init() { lanes = (0..<Self.laneCount).map { BlockingLane(label: "files-\($0)") } }

    /// Runs a short blocking look at the disk.
    func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await nextLane.run(body)
    }

    /// A body of just these bytes. If the file is shorter than it was, the connection is cut, so that nobody takes a
    /// part for the whole.
    func body(of file: OpenFile, range: Range<Int64>) -> ResponseBody {
        body(range: range) { try file.read(at: $0, count: $1) }
    }

    /// The same of whatever reads so many bytes at a place. It blocks, on a lane.
    func body(range: Range<Int64>, read: @escaping @Sendable (Int64, Int) throws -> [UInt8]) -> ResponseBody {
        let lane = nextLane
        return ResponseBody(contentLength: Int(range.count)) { writer in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let position = offset
                let count = Int(min(Int64(Self.chunkBytes), range.upperBound - offset))
                let bytes = try await lane.run { try read(position, count) }
                guard bytes.count == count else { throw Truncated() }
                try await writer.write(ByteBuffer(bytes: bytes))
                offset += Int64(count)
            }
            try await writer.finish(nil)
        }
    }

    private var nextLane: BlockingLane {
        lanes[(turn.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max) % Self.laneCount]
    }

    struct Truncated: Error {}
}
