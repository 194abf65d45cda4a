/// The words that the project does not use, and the rules that look for them.
enum TidyWords {
    /// A name that was replaced: no declaration has these words in its name, in this order and side by side.
    struct Replaced {
        /// In lower case: `["may", "ask"]` is in `permitsRequest` and in `MayAskAgain`.
        let words: [String]
        let by: String

        init(_ words: String, by: String) {
            self.words = words.split(separator: " ").map(String.init)
            self.by = by
        }
    }

    /// One word for one thing. Extend this list when a name is replaced.
    static let replaced = [
        Replaced("may ask", by: "circuit breaker"),
        Replaced("fates", by: "outcomes"),
        Replaced("fenced", by: "sandboxed"),
        Replaced("lane", by: "serial queue, trust domain or release branch"),
        Replaced("lanes", by: "serial queues, trust domains or release branches"),
        Replaced("wakeup", by: "signal"),
        Replaced("bell", by: "signal"),
        Replaced("wishes", by: "cancellation requests"),
        Replaced("outages", by: "circuit breaker"),
        Replaced("shelf", by: "cache"),
        Replaced("standing", by: "branch health"),
        Replaced("heed", by: "obey"),
        Replaced("seats", by: "semaphore"),
        Replaced("held slots", by: "semaphore"),
        Replaced("byte budget", by: "byte limit"),
        Replaced("whoever", by: "the thing's name"),
    ]

    /// British forms, each with the American one.
    static let american = [
        "analyse": "analyze", "analysed": "analyzed", "analysing": "analyzing", "amongst": "among",
        "artefact": "artifact", "artefacts": "artifacts", "authorise": "authorize", "authorised": "authorized",
        "behaviour": "behavior", "behaviours": "behaviors", "cancelled": "canceled", "cancelling": "canceling",
        "catalogue": "catalog", "centre": "center", "colour": "color", "coloured": "colored", "colours": "colors",
        "customise": "customize", "defence": "defense", "favour": "favor", "favourite": "favorite",
        "finalise": "finalize", "fulfil": "fulfill", "honour": "honor", "honoured": "honored",
        "initialise": "initialize", "initialised": "initialized", "initialising": "initializing",
        "judgement": "judgment", "labelled": "labeled", "labelling": "labeling", "licence": "license",
        "licences": "licenses", "maximise": "maximize", "minimise": "minimize", "modelled": "modeled",
        "modelling": "modeling", "neighbour": "neighbor", "neighbours": "neighbors", "normalise": "normalize",
        "normalised": "normalized", "normalising": "normalizing", "offence": "offense", "optimise": "optimize",
        "optimised": "optimized", "organisation": "organization", "organise": "organize", "organised": "organized",
        "prioritise": "prioritize", "realise": "realize", "realised": "realized", "recognise": "recognize",
        "recognised": "recognized", "recognises": "recognizes", "recognising": "recognizing",
        "serialisation": "serialization", "serialise": "serialize", "serialised": "serialized",
        "signalled": "signaled", "signalling": "signaling", "specialised": "specialized", "summarise": "summarize",
        "summarised": "summarized", "synchronise": "synchronize", "synchronised": "synchronized",
        "towards": "toward", "travelled": "traveled", "unrecognised": "unrecognized", "utilise": "use",
        "visualise": "visualize", "whilst": "while",
    ]

    /// Words that are archaic or ours alone, each with what to write.
    static let archaic = [
        "anew": "again", "whyever": "for whatever reason", "thereof": "of it", "therein": "in it",
        "whence": "from where", "whereof": "of which", "herein": "here", "hereby": "with this",
        "so many": "a number", "is told of": "is notified of",
        "are told of": "are notified of", "has it that": "states that", "goes before": "precedes",
        "go before": "precede", "stands at": "is at", "stand at": "are at", "by the name of": "named",
    ]

    /// Words that other programs write, by the file that has them.
    static let quoted = [
        "AnalyzerProse.swift": ["analysing"], "EventStream.swift": ["cancelled"],
        "EventStreamReaderTests.swift": ["cancelled"],
    ]

    /// Pages whose sentences are not repaired yet. The lists of promises have their sentences from the tests.
    static let unfinishedPages = ["/manual.md", "/testing.md", "/features.md", "/acceptance.md", "/messages.md"]

    /// British forms. A word in capitals is a constant of another program, and `isCancelled` is Swift's.
    static func british(in text: String) -> [Tidy.Finding] {
        guard Tidy.mayContain(american.keys, in: text) else { return [] }
        return Rules.lines(of: text).flatMap { number, line -> [Tidy.Finding] in
            let ours = line.replacing("isCancelled", with: "")
            return words(of: ours, withCapitals: false).compactMap { word in
                american[word].map { (number, "\(word): write \($0)") }
            }
        }
    }

    /// Archaic words.
    /// - Parameter isPage: Whether the text is a page. Of a source only the comments are read.
    static func archaic(in text: String, isPage: Bool) -> [Tidy.Finding] {
        guard Tidy.mayContain(archaic.keys, in: text) else { return [] }
        return Rules.lines(of: text).flatMap { number, line -> [Tidy.Finding] in
            guard isPage || Tidy.isComment(line) else { return [] }
            let sentence = " " + words(of: line, areSplit: false).joined(separator: " ") + " "
            return archaic.compactMap {
                sentence.contains(" \($0.key) ") ? (number, "\($0.key): write \($0.value)") : nil
            }
        }
    }

    /// Declarations whose name has a replaced word. Tests' names are sentences and are left out.
    static func replaced(in text: String, _ replaced: [Replaced] = replaced) -> [Tidy.Finding] {
        guard Tidy.mayContain(replaced.map { $0.words.joined() }, in: text) else { return [] }
        let keywords: Set<String> = [
            "func", "var", "let", "case", "struct", "class", "enum", "actor", "protocol", "typealias",
        ]
        return Rules.lines(of: text).flatMap { number, line -> [Tidy.Finding] in
            guard !Tidy.isComment(line) else { return [] }
            let parts = line.split { $0 == " " || $0 == "(" || $0 == "`" }
            return zip(parts, parts.dropFirst()).flatMap { keyword, rest -> [Tidy.Finding] in
                guard keywords.contains(String(keyword)) else { return [] }
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                guard !name.hasPrefix("test") else { return [] }
                let words = words(of: name)
                return replaced.filter { contains($0.words, in: words) }.map { (number, "\(name): write \($0.by)") }
            }
        }
    }

    /// The words of a text in lower case.
    /// - Parameters:
    ///   - withCapitals: Whether words in capitals of two letters and more are included.
    ///   - areSplit: Whether `aFewWords` is three words.
    static func words(of text: some StringProtocol, withCapitals: Bool = true, areSplit: Bool = true) -> [String] {
        var found: [String] = []
        var word: [UInt8] = []
        var capitals = 0
        func end() {
            if !word.isEmpty, withCapitals || capitals < word.count || capitals < 2 {
                found.append(String(decoding: word, as: UTF8.self))
            }
            word.removeAll(keepingCapacity: true)
            capitals = 0
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...: word.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                if areSplit, capitals < word.count { end() }
                word.append(byte | 0x20)
                capitals += 1
            default: end()
            }
        }
        end()
        return found
    }

    private static func contains(_ words: [String], in name: [String]) -> Bool {
        guard name.count >= words.count else { return false }
        return (0...(name.count - words.count)).contains { Array(name[$0..<($0 + words.count)]) == words }
    }
}
