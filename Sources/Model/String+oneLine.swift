extension Unicode.Scalar {
    /// Whether the character is invisible in a text but changes how it is read: it controls a terminal, ends a line, reorders text
    /// (CVE-2021-42574), or has no width.
    ///
    /// These are the Unicode categories Cc, Cf, Zl and Zp: C0 and C1 controls, DEL, bidirectional controls, line and paragraph separators,
    /// zero-width spaces, tags. The two joiners (U+200C, U+200D) are excluded, since scripts and emoji use them.
    package var isHiddenInText: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: value != 0x200C && value != 0x200D
        default: false
        }
    }
}

extension StringProtocol {
    /// The text on one line of a terminal, a log or a plain message, so that foreign names and messages can forge neither another line nor another
    /// order. Each hidden character becomes `\u{FFFD}`.
    ///
    /// For example: `"fixed\nkit#7 succeeded".inOneLine` is `"fixed�kit#7 succeeded"`.
    package var inOneLine: String { replacingHidden(with: "\u{FFFD}", keeping: []) }

    /// The same with a blank for each hidden character, for places that show no replacement characters.
    package var inOneBlankedLine: String { replacingHidden(with: " ", keeping: []) }

    /// The same for a text that may have several lines: line feeds and tabs stay.
    ///
    /// - warning: If the service assembled a text from foreign parts, each part must be made one line first.
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
