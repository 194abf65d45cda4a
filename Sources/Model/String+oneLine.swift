extension Unicode.Scalar {
    /// Whether the character is not seen in a text but changes how it is read: it controls a terminal, ends a line, reorders text
    /// (CVE-2021-42574), or takes no room.
    ///
    /// These are the categories Cc, Cf, Zl and Zp of Unicode: C0 and C1 controls, DEL, bidirectional controls, line and paragraph separators,
    /// zero-width spaces, tags. The two joiners (U+200C, U+200D) are not among them, since scripts and emoji are written with them.
    package var isHiddenInText: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: value != 0x200C && value != 0x200D
        default: false
        }
    }
}

extension StringProtocol {
    /// The text as it fits into one line of a terminal, a log or a plain message, so that a name or a message of somebody else's can forge
    /// neither another line nor another order: each character that is hidden in text is `\u{FFFD}`.
    ///
    /// For example: `"fixed\nkit#7 succeeded".inOneLine` is `"fixed�kit#7 succeeded"`.
    package var inOneLine: String { replacingHidden(with: "\u{FFFD}", keeping: []) }

    /// The same with a blank for each character that is hidden in text, for places that show no others' characters.
    package var inOneBlankedLine: String { replacingHidden(with: " ", keeping: []) }

    /// The same for a text that may have several lines: line feeds stay, tabs too.
    ///
    /// - warning: Of a text that the service put together from parts of others' texts, each part is to be made one line first.
    package var inSafeLines: String { replacingHidden(with: "\u{FFFD}", keeping: ["\n", "\t"]) }

    private func replacingHidden(with replacement: Unicode.Scalar, keeping kept: [Unicode.Scalar]) -> String {
        guard unicodeScalars.contains(where: { $0.isHiddenInText && !kept.contains($0) }) else { return String(self) }
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            result.append(scalar.isHiddenInText && !kept.contains(scalar) ? replacement : scalar)
        }
        return String(result)
    }
}
