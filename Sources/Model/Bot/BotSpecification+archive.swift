extension BotSpecification {
    /// Whether a trigger uses what an integration of a ref archives. Triggers that run before the jobs find no products yet, and no products are made
    /// for a trigger that runs only after failures.
    package func usesProducts(of ref: RefName) -> Bool {
        triggers.contains { $0.phase == .after && $0.when != [.failed] && $0.matches(ref) }
    }

    /// Returns the configuration whose products an integration of a ref archives; `nil` if the recipe keeps no products, or if no
    /// trigger uses them and keeping them would take a further build.
    package func archivedConfiguration(of recipe: Recipe, on ref: RefName) -> Name? {
        let isArchived = recipe.archive.isWritten || usesProducts(of: ref) || Self.isInstalled(recipe)
        return isArchived ? recipe.archivedConfiguration : nil
    }

    /// Whether the usual products are the files that the project's own installation copies. That takes no further build, so they are always archived.
    private static func isInstalled(_ recipe: Recipe) -> Bool {
        let name = recipe.archivedConfiguration
        guard let configuration = recipe.configurations.first(where: { $0.name == name }),
            let type = recipe.projectType(of: configuration)
        else { return false }
        return [.cmake, .meson, .autotools].contains(type)
    }

    /// Returns why an integration of a ref archives no products, and how to change that; `nil` if it archives.
    package func whyNotArchived(_ recipe: Recipe, on ref: RefName) -> String? {
        guard archivedConfiguration(of: recipe, on: ref) == nil else { return nil }
        if recipe.archive.include == [] { return "not archived: the recipe says `archive: { include: [] }`" }
        let trigger = ref.pullRequest == nil ? ", and so does a trigger that acts on \(ref.shortName)" : ""
        return "not archived: nothing uses the products; `archive: {}` in the recipe keeps them\(trigger)"
    }
}
