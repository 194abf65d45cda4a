import Basics
import Execution
package import JobProtocol
package import Model
import Settings

extension JobRunner {
    /// The paths as a job sees them, and the parts of the machine that it sees.
    package struct Place: Sendable {
        /// The path at which its processes see the workspace's tree.
        package var mountedAt: String
        package var sandbox: JobDescription.Sandbox?
        package var environment: JobEnvironment.Place
        /// A text that changes if the paths in the build products would be wrong.
        package var mark: String
    }

    /// Returns the paths for a job.
    /// - Parameter objects: The directory of the mirror's objects, which the job's `.git` refers to.
    /// - Throws: `PreparationError` if the recipe asks for something that the operator does not grant.
    package func place(
        of configuration: Recipe.Configuration, bot: Name, in workspace: Workspace, objects: String
    ) throws -> Place {
        guard case .sandbox = isolation.isolation else {
            if let image = configuration.image {
                throw PreparationError.imageWithoutSandbox(image, reason: isolation.isolation.reason ?? "")
            }
            return Place(
                mountedAt: workspace.tree, sandbox: nil,
                environment: .init(workspace: workspace.tree, temporary: workspace.path + "/tmp"), mark: workspace.tree)
        }
        let mountedAt = JobIsolation.mountedAt(bot)
        var readOnly = isolation.readOnly + [objects]
        var path = isolation.path
        var root: String?
        if let image = configuration.image {
            root = try directory(of: image)
            path = Toolchains.usualPath
            // The image has its own toolchain. A toolchain of the machine is shown only if the recipe names it.
            readOnly = readOnly.filter {
                $0 == planner.tools || isolation.limits.readOnly.contains($0) || $0 == objects
            }
        }
        if let toolchain = configuration.toolchain, !Toolchains.isWithin(toolchain, ["/usr"]) {
            if Toolchains.isWithin(toolchain, isolation.readOnly) {
                if !Toolchains.isWithin(toolchain, readOnly) { readOnly.append(toolchain) }
            } else if root == nil {
                // The recipe is the repository's, but the operator decides which parts of the machine its jobs see.
                throw PreparationError.toolchainUnseen(toolchain)
            }
        }
        return Place(
            mountedAt: mountedAt,
            sandbox: .init(
                root: root, readOnly: readOnly, home: JobIsolation.home, homeDirectory: workspace.home,
                sharesNetwork: isolation.loopback != nil),
            environment: .init(
                workspace: mountedAt, temporary: "/tmp",
                sandbox: .init(
                    path: path, home: JobIsolation.home, user: JobIsolation.user,
                    cache: "\(mountedAt)/\(JobPlanner.ownDirectory)/cache", readOnly: readOnly)),
            mark: [mountedAt, configuration.image?.description].compactMap(\.self).joined(separator: " "))
    }

    /// Returns the directory of an image. A name has no separator and no leading dot, so it cannot lead elsewhere. A link in the directory of images
    /// is followed, because the operator made it.
    private func directory(of image: Name) throws -> String {
        guard let images = isolation.images else { throw PreparationError.imagesUnset(image) }
        let names: [String]
        do {
            names = try Directory(opening: images).entries().map(\.name).filter { Name($0) != nil }.sorted()
        } catch {
            throw PreparationError.imageUnknown(image, images: images, known: [], reason: "\(error)")
        }
        guard names.contains(image.description) else {
            throw PreparationError.imageUnknown(image, images: images, known: names, reason: nil)
        }
        return "\(images)/\(image)"
    }
}
