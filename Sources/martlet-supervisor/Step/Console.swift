import Glibc

/// Standard output and standard error, unbuffered.
enum Console {
    static func say(_ text: String) { write(text, to: 1) }
    static func complain(_ text: String) { write("martlet-supervisor: " + text + "\n", to: 2) }

    private static func write(_ text: String, to descriptor: Int32) {
        _ = Descriptor.writeAll(Array(text.utf8), to: descriptor)
    }
}
