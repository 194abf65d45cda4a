extension Unicode.Scalar {
    /// Whether the character is invisible in a text but changes how the text is read. It controls a terminal, ends a line, reorders text
    /// (CVE-2021-42574), or has no width.
    ///
    /// These are the Unicode categories Cc, Cf, Zl and Zp: C0 and C1 controls, DEL, bidirectional controls, line and paragraph separators, zero-width
    /// spaces and tags. The two joiners (U+200C, U+200D) are excluded, because scripts and emoji use them.
    package var isHiddenInText: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: value != 0x200C && value != 0x200D
        default: false
        }
    }
}

extension StringProtocol {
    /// The text on one line of a terminal, a log or a plain message. Each hidden character becomes `\u{FFFD}`, so that names and messages from
    /// outside cannot add a line or change the order of characters.
    ///
    /// For example: `"fixed\nkit#7 succeeded".inOneLine` is `"fixed�kit#7 succeeded"`.
    package var inOneLine: String { replacingHidden(with: "\u{FFFD}", keeping: []) }

    /// The text on one line, with a blank for each hidden character. Use it where replacement characters cannot be shown.
    package var inOneBlankedLine: String { replacingHidden(with: " ", keeping: []) }

    /// The text without hidden characters, except line feeds and tabs. Use it for texts that may have several lines.
    ///
    /// - warning: If the service assembles a text from parts from outside, each part must be made one line first.
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
