extension BotSpecification {
    /// Whether a trigger takes what an integration of a ref archives. A trigger before the jobs finds no products yet. Products are not
    /// made for a trigger that acts on failures alone.
    package func usesProducts(of ref: RefName) -> Bool {
        triggers.contains { $0.phase == .after && $0.when != [.failed] && $0.matches(ref) }
    }

    /// The configuration whose products an integration of a ref archives; `nil` if the recipe keeps none, or nothing uses them.
    package func archivedConfiguration(of recipe: Recipe, on ref: RefName) -> Name? {
        recipe.archive.isWritten || usesProducts(of: ref) ? recipe.archivedConfiguration : nil
    }

    /// Why an integration of a ref archives nothing, and what to write instead; `nil` if it archives.
    package func whyNotArchived(_ recipe: Recipe, on ref: RefName) -> String? {
        guard archivedConfiguration(of: recipe, on: ref) == nil else { return nil }
        if recipe.archive.include == [] { return "not archived: the recipe says `archive: { include: [] }`" }
        let trigger = ref.pullRequest == nil ? ", and so does a trigger that acts on \(ref.shortName)" : ""
        return "not archived: nothing uses the products; `archive: {}` in the recipe keeps them\(trigger)"
    }
}
