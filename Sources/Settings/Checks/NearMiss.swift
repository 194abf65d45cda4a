import Glibc

/// Functions that find ignored names that were probably meant to be read: `martlet.yaml` for `martlet.yml`.
package enum NearMiss {
    // MARK: Recipes

    /// The most names that are reported, since a commit can contain any number.
    static let maximumRecipes = 10

    /// Returns a sentence for each file of a repository's root that looks like a recipe but is none. Beyond `maximumRecipes`, one more sentence
    /// states the number of the others.
    static func recipes(in rootEntries: [String]) -> [String] {
        let sentences = allRecipes(in: rootEntries)
        let more = sentences.count - maximumRecipes
        guard more > 0 else { return sentences }
        return sentences.prefix(maximumRecipes) + ["\(more) more files look like a recipe and are not read"]
    }

    private static func allRecipes(in rootEntries: [String]) -> [String] {
        let hasRecipe = rootEntries.contains(RecipeReader.fileName)
        return rootEntries.compactMap { name -> String? in
            if name.lowercased() == ".martlet" {
                return
                    "\(Printable.quoted(name)) is not read: in a workspace it is the service's own directory; the recipe is "
                    + RecipeReader.fileName
            }
            guard name != RecipeReader.fileName, isLikeRecipe(name) else { return nil }
            // Beside a recipe, `martlet.yml` may be the settings of a service.
            guard !hasRecipe || name.hasPrefix(".") else { return nil }
            return "\(Printable.quoted(name)) is not read: the recipe is \(RecipeReader.fileName), by just that name"
        }
    }

    private static func isLikeRecipe(_ name: String) -> Bool {
        guard name.utf8.count <= Suggestion.maximumLength else { return false }
        let plain = name.lowercased().drop { $0 == "." || $0 == "_" }
        let parts = plain.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, endings.contains(String(parts[1])) else { return false }
        let word = String(parts[0])
        return ["martlet", "martlet-ci", "martletci"].contains(word)
            || Suggestion.isNearly(word, "martlet")
    }

    private static let endings: Set<String> = [
        "yml", "yaml", "yml.txt", "yaml.txt", "ymal", "yaml.yml", "json", "toml",
    ]

    // MARK: Files and directories of the service

    /// Returns the path of a settings file with a wrong name; `nil` if there is none.
    /// - Parameter path: The path of the settings file, which does not exist.
    package static func settings(inPlaceOf path: String) -> String? {
        let directory = FilePath.parent(of: path)
        // If the directory cannot be listed, no other file is found.
        guard let names = try? SystemFile.names(in: directory, limit: BotDirectory.maximumEntries) else { return nil }
        return names.first { name in
            let plain = name.lowercased().drop { $0 == "." || $0 == "_" }
            return ["martlet.yml", "martlet.yaml", "martlet.ymal", "martlet.yml.txt"].contains(String(plain))
        }.map { FilePath.join(directory, $0) }
    }

    /// Returns the path of a directory with a similar wrong name, such as `secret` for `secrets`; `nil` if there is none, or if `path` exists.
    package static func directory(inPlaceOf path: String) -> String? {
        guard access(path, F_OK) != 0 else { return nil }
        let (parent, name) = (FilePath.parent(of: path), FilePath.lastComponent(of: path))
        guard let names = try? SystemFile.names(in: parent, limit: BotDirectory.maximumEntries) else { return nil }
        let directories = names.filter { name in
            guard let status = try? SystemFile.status(FilePath.join(parent, name)) else { return false }
            return status.st_mode & S_IFMT == S_IFDIR
        }
        return Suggestion.near(name, in: directories).map { FilePath.join(parent, $0) }
    }

    /// Returns why a file in the directory of bot files is ignored although its name is similar to a bot file's; `nil` for all others. Copies that an
    /// editor or an operator keeps there have other endings.
    static func botFile(_ name: String) -> String? {
        guard !name.hasPrefix("."), FilePath.yamlName(of: name) == nil else { return nil }
        let lowered = name.lowercased()
        let isLike =
            [".yml", ".yaml", ".ymal", ".yml.txt", ".yaml.txt"].contains(where: lowered.hasSuffix)
        return isLike ? "it is not read: a bot file's name ends in .yml or .yaml, in small letters" : nil
    }

    /// Returns the problem with a trigger's script; `nil` if it can be run.
    static func script(_ name: String, in directory: String) -> String? {
        let path = FilePath.join(directory, name)
        guard access(path, F_OK) == 0 else {
            if let other = self.directory(inPlaceOf: directory) {
                return "there is no \(path); scripts lie in triggers/ beside bots/, and \(other) is there"
            }
            // If the directory cannot be listed, no other name is suggested.
            let names = (try? SystemFile.names(in: directory, limit: BotDirectory.maximumEntries)) ?? []
            let hint = Suggestion.near(name, in: names).map { "; did you mean `\($0)`?" } ?? ""
            return "there is no \(path)\(hint)"
        }
        return access(path, X_OK) == 0 ? nil : "\(path) is not executable (chmod +x)"
    }

    // MARK: Variables

    /// Returns a sentence for each variable whose name is similar to that of a variable that a command reads, by name.
    package static func variables(_ names: some Sequence<String>) -> [String] {
        names.sorted().compactMap { name in
            guard name.utf8.count <= Suggestion.maximumLength, !read.contains(name) else { return nil }
            return variable(meantBy: name).map { "\(Printable.oneLine(name)) is not read; did you mean \($0)?" }
        }
    }

    private static let read: [String] = ["MARTLET_URL", "MARTLET_TOKEN"]

    private static func variable(meantBy name: String) -> String? {
        let upper = name.uppercased()
        let parts = upper.split(separator: "_", maxSplits: 1).map(String.init)
        guard parts.count == 2, Suggestion.isNearly(parts[0], "MARTLET") else { return nil }
        if parts[0] == "MARTLET" {
            if ["SERVER", "HOST", "ADDRESS", "SOCKET", "SERVER_URL", "ENDPOINT"].contains(parts[1]) { return read[0] }
            if ["API_TOKEN", "ACCESS_TOKEN", "AUTH_TOKEN", "API_KEY"].contains(parts[1]) { return read[1] }
        }
        return Suggestion.near(parts[1], in: ["URL", "TOKEN"]).map { "MARTLET_" + $0 }
    }
}
