import Model
import Storage

/// Who may read which product.
struct ProductAccess: Sendable {
    /// What holds where no bot's file says otherwise.
    let anonymousMayRead: Bool
    let stated: [Name: Bool]

    /// Whether anybody may read it.
    func isPublic(_ product: Name) -> Bool { stated[product] ?? anonymousMayRead }

    /// Whether anybody may read what belongs to all of these, as a package does in a tree that was put together by hand: the strictest
    /// counts. What is nobody's is open as the service is.
    func arePublic(_ products: [Name]) -> Bool {
        products.isEmpty ? anonymousMayRead : products.allSatisfy(isPublic)
    }

    /// Whether there can be one that anybody may read.
    var hasPublic: Bool { anonymousMayRead || stated.values.contains(true) }

    /// Whether everybody sees the same of all products together.
    var isSame: Bool { anonymousMayRead && !stated.values.contains(false) }

    func mayRead(_ product: Name, _ caller: Caller) -> Bool { caller.role != nil || isPublic(product) }
}

extension Site {
    func access() async throws -> ProductAccess {
        ProductAccess(anonymousMayRead: configuration.anonymousMayRead, stated: try await store.statedAccess())
    }

    /// The products that a caller may read, by name.
    func products(for caller: Caller) async throws -> [Name] {
        let access = try await access()
        return try await store.products().filter { access.mayRead($0, caller) }
    }

    /// Whether what an integration archived needs a token: it may be the same bytes as a closed product's. Opening a product opens none of
    /// it where the rest is closed.
    func isClosed(_ id: IntegrationID) async throws -> Bool {
        let access = try await access()
        let products =
            try await store.products(madeBy: id)
            + [try await store.product(of: id.bot)].compactMap(\.self)
        return products.contains { !access.isPublic($0) }
    }

    /// Whether anybody may read what a route of products shows, and whether all are shown the same.
    /// - Parameter parameters: Of the route.
    func openness(_ parameters: [String: String]) async throws -> (mayRead: Bool, isSame: Bool) {
        let access = try await access()
        if let text = parameters["product"] {
            let isPublic = Name(text).map(access.isPublic) ?? access.anonymousMayRead
            return (isPublic, isPublic)
        }
        if let scope = parameters["scope"], let name = parameters["name"] {
            let package = PackageIdentifier(scope: scope, name: RegistryRoutes.without(".json", name))
            let products = if let package { try await store.products(of: package) } else { [] as [Name] }
            let isPublic = access.arePublic(products)
            return (isPublic, isPublic)
        }
        return (access.hasPublic, access.isSame)
    }
}
