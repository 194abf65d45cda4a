extension ProjectProfile {
    /// Swift. `JobCommands` makes its steps, because they depend on the manifest and the sources.
    static let swiftPackage = ProjectProfile(
        title: "Swift package", markers: ["Package.swift"],
        analyses: [
            Analysis(
                name: "swiftlint", markers: [".swiftlint.yml"],
                command: Command(
                    script: """
                        need swiftlint
                        mkdir -p .martlet/analyze
                        swiftlint lint --quiet --reporter checkstyle >.martlet/analyze/swiftlint.xml
                        status=$?
                        [ $status = 2 ] || exit $status
                        """, report: [".martlet/analyze/swiftlint.xml"]))
        ],
        packages: ["swiftlint": "swiftlint (from github.com/realm/SwiftLint)"], releaseFlags: ["-c", "release"])

    /// Make. `JobCommands` makes the steps that build and test, because the targets depend on the Makefile's text. The file names are in GNU make's
    /// order.
    ///
    /// If the Makefile supports `DESTDIR`, what the project installs is archived. Otherwise the programs and libraries that the build left beside the
    /// sources are archived.
    static let make = ProjectProfile(
        title: "Make project", markers: ["GNUmakefile", "makefile", "Makefile"],
        archive: Command(
            script: """
                products=$PWD/.martlet/products
                mkdir -p "$products"
                for file in GNUmakefile makefile Makefile; do [ ! -f "$file" ] || break; done
                if grep -qE '^install *:' "$file" && grep -q 'DESTDIR' "$file"; then
                  exec make install DESTDIR="$products" "$@"
                fi
                { git ls-files --others -z || find . -name .git -prune -o -type f -print0; } 2>/dev/null |
                  xargs -0 -r sh -c 'for file; do
                    case $file in .martlet/* | ./.martlet/* | *.o) continue ;; *.a | *.so | *.so.*) ;; *) [ -x "$file" ] || continue ;; esac
                    case $(head -c 4 "$file" | tr -d "\\000-\\037\\177") in ELF | "!<ar" | "#!"*) cp --parents -P "$file" "$0" ;; esac
                  done' "$products"
                """, needs: ["make"], takesFlags: true),
        packages: ["make": "make"])
}
