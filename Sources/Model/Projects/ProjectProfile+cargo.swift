extension ProjectProfile {
    /// Rust. The default members of a workspace are built, as by `cargo` itself. Benchmarks are not built, because many need a nightly compiler.
    /// clippy has its own target directory, because tests that search the build's products would otherwise find everything twice.
    static let cargo = ProjectProfile(
        title: "Cargo project", markers: ["Cargo.toml"],
        resolve: Command(
            script: """
                exec cargo fetch --target "$(rustc -vV | sed -n 's/^host: //p')"
                """, needs: ["cargo", "rustc"]),
        analyses: [
            Analysis(
                name: "clippy",
                command: Command(
                    script: """
                        exec cargo clippy --offline --target-dir .martlet/clippy "$@"
                        """, needs: ["cargo-clippy"], takesFlags: true))
        ],
        build: Command(
            script: """
                cargo build --offline "$@" || exit
                exec cargo test --offline --no-run "$@"
                """, needs: ["cargo"], takesFlags: true),
        test: Command(
            script: """
                exec cargo test --offline --no-fail-fast "$@"
                """, needs: ["cargo"], takesFlags: true),
        archive: Command(
            script: """
                cargo build --offline "$@" || exit
                profile=debug
                for flag; do case $flag in --release | -r) profile=release ;; esac; done
                mkdir -p .martlet/products
                find "${CARGO_TARGET_DIR:-target}/$profile" -maxdepth 1 -type f '(' -perm -u+x -o -name '*.a' ')' \
                    -exec cp -t .martlet/products {} +
                """, needs: ["cargo"], takesFlags: true),
        caches: ["CARGO_HOME": "{cache}/cargo"], kept: ["target"],
        packages: ["cargo": "cargo", "rustc": "rustc", "cargo-clippy": "rust-clippy"],
        releaseFlags: ["--release"])
}
