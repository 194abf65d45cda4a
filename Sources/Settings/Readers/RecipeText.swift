import Model

/// Extraction of a recipe's text from a bot file, with its lines and columns kept.
enum RecipeText {
    /// Returns the lines from the recipe's first to the one before the next key's.
    static func cut(
        _ recipe: YAMLNode, from root: YAMLNode, text: String, _ diagnostics: inout Diagnostics
    ) -> BotSpecification.RecipeSource? {
        guard case .mapping(let entries) = root.content,
            let index = entries.firstIndex(where: { $0.key == "recipe" })
        else { return nil }
        guard !root.isFlow else {
            diagnostics.error("write the bot file without outer braces to have a recipe in it", at: recipe.position)
            return nil
        }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let end = index + 1 < entries.count ? entries[index + 1].position.line - 1 : lines.count
        let start = recipe.position.line - 1
        guard start < end, end <= lines.count else {
            diagnostics.error("write the recipe in lines of its own below `recipe:`", at: recipe.position)
            return nil
        }
        lines = Array(lines[start..<end])
        // Text before the recipe in its first line, such as a key, is replaced by blanks, so that columns stay correct.
        let first = lines[0].unicodeScalars.dropFirst(recipe.position.column - 1)
        lines[0] = String(repeating: " ", count: recipe.position.column - 1) + String(String.UnicodeScalarView(first))
        while let last = lines.last, isBlankOrComment(last) { lines.removeLast() }
        return .init(yaml: lines.joined(separator: "\n") + "\n", firstLine: recipe.position.line)
    }

    /// Returns whether a line can be removed from the recipe's end. Comments before the next key belong to that key. A `#` line at the end of a block
    /// scalar is removed, too, since it has no effect in a recipe.
    private static func isBlankOrComment(_ line: String) -> Bool {
        let text = line.drop { $0 == " " || $0 == "\t" }
        return text.isEmpty || text.hasPrefix("#")
    }
}
