/// A recipe to begin with, for repositories whose type is not recognised but whose tools are known by a file.
struct SampleRecipe {
    /// What tells it, as the message names it.
    let found: String
    /// In one line, as a recipe could have it.
    let recipe: String

    /// For a root in which nothing is known.
    static let unknown = "configurations: { debug: { build: COMMAND, test: COMMAND } }"

    /// Nothing when no file of the root is known.
    static func fitting(rootEntries: [String]) -> SampleRecipe? {
        for row in table {
            let found = rootEntries.first { name in
                row.names.contains { $0.hasPrefix("*") ? name.hasSuffix($0.dropFirst()) : name == $0 }
            }
            guard let found else { continue }
            var parts = ["build: \(row.build)"]
            if let test = row.test { parts.append("test: \(test)") }
            if let report = row.report { parts.append("report: \(report)") }
            return SampleRecipe(
                found: found, recipe: "configurations: { debug: { \(parts.joined(separator: ", ")) } }")
        }
        return nil
    }

    private struct Row {
        /// Names in the root, or `*` and how they end.
        var names: [String]
        var build: String
        var test: String?
        var report: String?
    }

    /// The commands are those of each tool's own documentation; reports are of formats that are read.
    private static let table = [
        Row(
            names: ["meson.build"], build: "meson setup --reconfigure build && meson compile -C build",
            test: "meson test -C build", report: "build/meson-logs/testlog.junit.xml"),
        Row(names: ["configure"], build: "./configure && make", test: "make check"),
        Row(
            names: ["configure.ac", "configure.in"], build: "autoreconf -fi && ./configure && make", test: "make check"),
        Row(
            names: ["gradlew"], build: "./gradlew assemble", test: "./gradlew test",
            report: "\"**/build/test-results/test/*.xml\""),
        Row(
            names: ["build.gradle", "build.gradle.kts"], build: "gradle assemble", test: "gradle test",
            report: "\"**/build/test-results/test/*.xml\""),
        Row(
            names: ["*.sln", "*.slnx", "*.csproj"], build: "dotnet build", test: "dotnet test --logger trx",
            report: "\"**/TestResults/*.trx\""),
        Row(
            names: ["MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel"], build: "bazel build //...",
            test: "bazel test //..."),
        Row(names: ["Gemfile", "*.gemspec"], build: "bundle install", test: "bundle exec rake test"),
        Row(names: ["composer.json"], build: "composer install", test: "vendor/bin/phpunit"),
        Row(names: ["mix.exs"], build: "mix deps.get && mix compile", test: "mix test"),
        Row(names: ["rebar.config"], build: "rebar3 compile", test: "rebar3 eunit"),
        Row(names: ["build.zig"], build: "zig build", test: "zig build test"),
        Row(names: ["dune-project"], build: "dune build", test: "dune runtest"),
        Row(names: ["stack.yaml"], build: "stack build", test: "stack test"),
        Row(names: ["*.cabal", "cabal.project"], build: "cabal build all", test: "cabal test all"),
        Row(names: ["Makefile.PL"], build: "perl Makefile.PL && make", test: "make test"),
        Row(names: ["Build.PL"], build: "perl Build.PL && ./Build", test: "./Build test"),
        Row(names: ["SConstruct"], build: "scons", test: nil),
        Row(names: ["build.xml"], build: "ant", test: "ant test"),
        Row(names: ["Rakefile"], build: "rake", test: "rake test"),
        Row(names: ["justfile", "Justfile"], build: "just build", test: "just test"),
        Row(names: ["Taskfile.yml"], build: "task build", test: "task test"),
        Row(names: ["build.sh"], build: "./build.sh", test: nil),
    ]
}
