package import Model

/// The output of `martlet init URL`: a bot file with all keys explained, of which only the repository is active.
package enum InitTemplate {
    /// Returns the file's text.
    /// - Parameters:
    ///   - repository: The address as the user gave it; `problem(with:)` checks it.
    ///   - name: The bot's name for the samples; `nil` to leave `NAME` in its place.
    ///   - schema: The path of the JSON Schema, which editors with yaml-language-server read from the first line; `nil` for no such line.
    ///   - project: A description of the recognized project type; `nil` if it was not checked.
    package static func botFile(
        repository: String, name: Name? = nil, schema: String? = nil, project: String? = nil
    ) -> String {
        let types = ProjectType.usualMarkers
        let usual = project ?? "by the first of \(types)"
        let name = name?.description ?? "NAME"
        let modeline = schema.map { "# yaml-language-server: $schema=\(Printable.oneLine($0))\n" } ?? ""
        return modeline + """
            # A bot: the repository it watches, and what it does with each commit.
            # Only `repository` is needed. The values behind `#` are the defaults or samples; `martlet lint FILE` checks.
            repository: \(YAMLText.scalar(repository))

            # branches: [main, "release/*"]       # default: the remote's default branch and release/*
            # tags: []                            # default: none
            # paths: [Sources/, "!*.md"]          # default: every file; a push that changes none of them is skipped
            # pull-requests: trusted              # off, trusted, approved (forks once an operator says so), all
            # poll: 60s                           # default: 60s, 10m once an authentic webhook has arrived; or off
            # webhook: { secret: \(name)-webhook }   # the name of a secret: martlet secret set \(name)-webhook
            # status: { forge: gitea, credentials: \(name)-status, project: acme/\(name) } # default: none; commit statuses, by a token
            # submodules: true                    # default: true
            # upgrades: true                      # default: true: tips are integrated anew for another version of swift
            # schedule: daily 02:00               # default: none; UTC; or weekly sunday 02:00, 30 2 * * 1-5 Europe/Berlin
            # clean: never                        # never, always, daily, weekly: when the workspace is emptied
            # supersede: queued                   # what a newer commit of a ref ends: queued, running, never
            # timeout: 30m                        # a step's
            # log: 64MiB                          # the most of an attempt's log; at most 1GiB
            # product: \(name)                       # what versions are published as; default: the bot's name
            # public: true                        # default: as `anonymous` of the settings says; false: its versions need a token

            # triggers:                           # in this order; a failed one stops the later ones
            #   - name: publish
            #     branches: ["release/*"]         # release/1.4 becomes 1.4.0, 1.4.1 and so on
            #     publish: { version: branch }    # and `registry: acme.\(name)`, for Swift packages
            #   - name: office
            #     branches: ["release/*"]
            #     upload: sftp://files.example.com/\(name)/{version}/
            #     credentials: office-sftp        # the name of a secret
            #   - name: our-script
            #     branches: ["release/*"]
            #     when: succeeded                 # succeeded, clean, failed, fixed, always
            #     run: upload-archive             # an executable in triggers/ beside the directory of this file
            #     sandbox: true                   # it runs in the sandbox; false: with all rights of the service's user

            # notify:                             # who is told when a branch breaks, is fixed, has a new issue, is released
            #   - name: team
            #     when: [broke, fixed, new-issue, released]
            #     mail: [team@example.com]        # through `mail` of the settings
            #     authors: [example.com]          # also who brought the new issues in, with an address there
            #   - name: chat
            #     webhook: https://chat.example.com/hook
            #     secret: chat-webhook            # signs it: whsec_ and base64

            # secrets:                            # what steps of a recipe may ask for; martlet secret set \(name) stores one
            #   - { name: registry-token, branches: [main], steps: [deploy] }

            # recipe:                             # wins over the repository's own .martlet.yml; without either the usual
            #                                     # commands of the project's type, \(usual)
            #   configurations:
            #     debug:
            #     release: { flags: [-c, release] }
            #     docs:
            #       build: |                      # ends at the first command that fails, also in a pipeline; `set +e` goes on
            #         ./generate-docs
            #         ./check-docs

            """
    }

    /// Returns the name of a bot for a repository: the last component of its address.
    /// - Returns: `nil` if no character of it can be in a name.
    package static func name(for repository: String) -> Name? {
        let path = repository.prefix { $0 != "?" && $0 != "#" }
        var last = path.split { $0 == "/" || $0 == ":" }.last ?? ""
        if last.hasSuffix(".git") { last = last.dropLast(4) }
        // A name of hyphens alone would be the fallback.
        return last.utf8.contains { Name(String(decoding: [$0], as: UTF8.self)) != nil }
            ? Name(nearest: last.lowercased()) : nil
    }

    /// Returns the problem with the address, and what to write instead; `nil` if a bot can use it.
    package static func problem(with repository: String) -> String? {
        AddressText.problem(withRepository: repository, isInsecure: false)
    }
}
