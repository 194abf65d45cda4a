extension ProjectProfile {
    /// C, C++ and other languages with Meson. Subprojects that are not in the repository are fetched first; `meson setup` does not fetch them.
    static let meson = ProjectProfile(
        title: "Meson project", markers: ["meson.build"],
        resolve: Command(
            script: """
                set -- subprojects/*.wrap
                if [ ! -f "$1" ]; then echo 'there are no subprojects to fetch'; exit 0; fi
                meson subprojects download || echo 'not every subproject could be fetched; the build says which it needs'
                """, needs: ["meson"]),
        build: Command(
            script: """
                library=--libdir=lib
                if ls /usr/lib64/libc.so.6 >/dev/null 2>&1; then library=; fi
                for flag; do case $flag in --libdir* | -Dlibdir*) library= ;; esac; done
                again=; if [ -f .martlet/build/build.ninja ]; then again=--reconfigure; fi
                files=$(find . -path ./.martlet -prune -o -type f '(' -name 'meson*' -o -name '*.wrap' ')' -print | LC_ALL=C sort)
                each() { printf '%s\\n' "$files" | xargs -d '\\n' "$@"; }
                # Ninja itself configures again where another file that the configuration reads has changed. It does not know which files a
                # configuration asks for (the module fs), and what the programs that it runs read.
                always=$(
                  each grep -lE "run_command|add_postconf_script|'fs'|\\<fs[.]"
                  each grep -l configure_file | xargs -r -d '\\n' grep -lE '\\<command *:'
                )
                # Meson refuses what another version of it has configured, unless it is set up again.
                key="$library $* $(each cat | sha256sum) $(meson --version; ninja --version; pkg-config --version 2>/dev/null)"
                if [ -z "$again" ] || [ -n "$always" ] || [ "$(cat .martlet/configured 2>/dev/null)" != "$key" ]; then
                  rm -f .martlet/configured
                  meson setup $again --wrap-mode=nodownload $library .martlet/build "$@" || exit
                  echo "$key" >.martlet/configured
                fi
                exec meson compile -C .martlet/build
                """, needs: ["meson", "ninja"], takesFlags: true),
        test: Command(
            script: """
                report=.martlet/build/meson-logs/testlog.junit.xml
                # What `meson introspect --tests` prints.
                if [ "$(cat .martlet/build/meson-info/intro-tests.json)" = '[]' ]; then none 'meson.build has none'; fi
                meson test -C .martlet/build --no-rebuild --print-errorlogs
                reported $? "$report"
                """, needs: ["meson"], report: [".martlet/build/meson-logs/testlog.junit.xml"]),
        archive: Command(
            script: """
                DESTDIR="$PWD/.martlet/products" exec meson install -C .martlet/build --no-rebuild
                """, needs: ["meson"]),
        packages: ["meson": "meson", "ninja": "ninja-build"], releaseFlags: ["--buildtype=release"])

    /// The GNU build system, and projects with their own `configure`. It is configured again if the script or the flags changed.
    static let autotools = ProjectProfile(
        title: "autotools project", markers: ["configure.ac", "configure.in", "configure"],
        build: Command(
            script: """
                mkdir -p .martlet
                # A script may be for another shell, and may lack its permission to be executed.
                run() { script=$1; shift; if [ -x "$script" ]; then "./$script" "$@"; else sh "./$script" "$@"; fi; }
                inputs=$(cat configure.ac configure.in autogen.sh bootstrap bootstrap.sh buildconf 2>/dev/null | sha256sum)
                if [ ! -f configure ] || { [ -f .martlet/generated ] && [ "$(cat .martlet/generated)" != "$inputs" ]; }; then
                  rm -f .martlet/generated
                  made=
                  for script in autogen.sh bootstrap bootstrap.sh buildconf; do
                    [ -f "$script" ] || continue
                    NOCONFIGURE=1 run "$script" || exit
                    made=$script; break
                  done
                  if [ -z "$made" ]; then need autoreconf; autoreconf -fi || exit; fi
                  [ -f configure ] || { echo "${made:-autoreconf} ended with 0 and left no configure"; exit 1; }
                  echo "$inputs" >.martlet/generated
                fi
                key=$(cat configure | sha256sum)" $*"
                if [ ! -f Makefile ] || [ "$(cat .martlet/configured 2>/dev/null)" != "$key" ]; then
                  rm -f .martlet/configured
                  # In a checkout any file may be the newest. Then make would regenerate the files of Autoconf and Automake that the commit has.
                  if [ ! -f .martlet/generated ]; then
                    : >.martlet/now
                    find . -type f '(' -name aclocal.m4 -o -name configure -o -name '*.in' ')' -exec touch -r .martlet/now {} +
                  fi
                  run configure "$@" || exit
                  echo "$key" >.martlet/configured
                fi
                exec make -j"$(nproc)"
                """, needs: ["make"], takesFlags: true),
        test: Command(
            script: """
                \(lacks)
                for target in check test; do lacks "$target" || exec make "$target"; done
                none 'the Makefile has neither check nor test'
                """, needs: ["make"]),
        archive: Command(
            script: """
                \(lacks)
                if lacks install; then exit 0; fi
                exec make install DESTDIR="$PWD/.martlet/products"
                """, needs: ["make"]),
        packages: ["make": "make", "autoreconf": "autoconf automake libtool"])

    /// Defines a shell function that succeeds if the Makefile has no such target. If make cannot read the Makefile, or a target lacks a prerequisite,
    /// the commit is at fault, and make reports it when it runs. A make that another make starts adds its level to its name: `make[1]: `.
    private static let lacks = """
        lacks() {
          ! said=$(LC_ALL=C MAKELEVEL=0 make -n "$1" 2>&1) || return 1
          case $said in *"make: *** No rule to make target "?"$1'."*) return 0 ;; esac
          return 1
        }
        """

    /// Zig, and C built with it.
    static let zig = ProjectProfile(
        title: "Zig project", markers: ["build.zig"],
        resolve: Command(
            script: """
                if [ ! -f build.zig.zon ]; then echo 'there is no build.zig.zon'; exit 0; fi
                exec zig build --fetch
                """, needs: ["zig"]),
        build: Command(script: "exec zig build \"$@\"\n", needs: ["zig"], takesFlags: true),
        test: Command(
            script: """
                zig build --list-steps | grep -q '^ *test ' || none 'build.zig has no step test'
                exec zig build test --summary all "$@"
                """, needs: ["zig"], takesFlags: true),
        archive: Command(
            script: "exec zig build --prefix .martlet/products \"$@\"\n", needs: ["zig"], takesFlags: true),
        caches: ["ZIG_GLOBAL_CACHE_DIR": "{cache}/zig"], kept: [".zig-cache", "zig-cache", "zig-out"],
        packages: ["zig": "zig (from ziglang.org)"], releaseFlags: ["--release=safe"])

    /// Everything that Bazel builds. Its output is outside of the workspace, so the reports are copied.
    static let bazel = ProjectProfile(
        title: "Bazel workspace", markers: ["MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel"],
        resolve: Command(script: "\(bazelCommand)\nbazel fetch //...\n", needs: ["bazel"]),
        build: Command(
            script: "\(bazelCommand)\nbazel build \"$@\" //...\n", needs: ["bazel"], takesFlags: true),
        test: Command(
            script: """
                \(bazelCommand)
                bazel test --test_output=errors "$@" //...
                status=$?
                if [ $status = 4 ]; then none 'bazel found no test'; fi
                find -L bazel-testlogs -name test.xml 2>/dev/null | {
                  number=0
                  while read -r file; do number=$((number + 1)); cp "$file" ".martlet/test/bazel-$number.xml"; done
                }
                reported $status '.martlet/test/bazel-*.xml'
                """, needs: ["bazel"], takesFlags: true, report: [".martlet/test/bazel-*.xml"]),
        archive: Command(
            script: """
                mkdir -p .martlet/products
                find -L bazel-bin -maxdepth 2 -type f '(' -name '*.a' -o -name '*.so' -o -name '*.jar' -o -perm -u+x ')' \
                    -not -path '*.runfiles/*' -not -name '*.sh' -not -name '*.params' -exec cp -t .martlet/products {} +
                """),
        caches: ["BAZEL_ROOT": "{cache}/bazel"], packages: ["bazel": "bazel (from bazel.build)"],
        releaseFlags: ["--compilation_mode=opt"])

    private static let bazelCommand = """
        bazel() { command bazel ${BAZEL_ROOT:+--output_user_root="$BAZEL_ROOT"} "$@"; }
        """
}

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
                """, needs: ["cargo"], takesFlags: true, filter: .cargo),
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

extension ProjectProfile {
    /// Keeps Go off the network. If go.mod states a version below go 1.14, Go uses `vendor` only when told to
    /// (https://go.dev/ref/mod#build-commands).
    private static let offline = """
        export GOPROXY=off
        if [ -f vendor/modules.txt ] && ! awk '$1 == "go" { split($2, v, "."); if (v[1] > 1 || v[2] >= 14) found = 1 } END { exit !found }' go.mod
        then export GOFLAGS="${GOFLAGS:+$GOFLAGS }-mod=vendor"; fi
        """

    /// Go modules. `go list -test -export` compiles every test and links none. `go test` links only tests whose success is not cached, which are few
    /// after a small change. It accepts the flags of `go build`.
    static let go = ProjectProfile(
        title: "Go module", markers: ["go.mod"],
        resolve: Command(
            script: """
                if [ -f vendor/modules.txt ]; then echo 'the dependencies are in vendor'; exit 0; fi
                exec go mod download
                """, needs: ["go"]),
        analyses: [
            Analysis(
                name: "vet",
                command: Command(
                    script: """
                        \(offline)
                        go vet ./...
                        status=$?
                        if command -v staticcheck >/dev/null; then staticcheck ./... || status=$?; fi
                        exit $status
                        """, needs: ["go"]))
        ],
        build: Command(
            script: """
                \(offline)
                go build -o /dev/null "$@" ./... || exit
                exec go list -test -export "$@" ./... >/dev/null
                """, needs: ["go"], takesFlags: true),
        test: Command(
            script: """
                \(offline)
                exec go test -v "$@" ./...
                """, needs: ["go"], takesFlags: true, filter: .go),
        archive: Command(
            script: """
                \(offline)
                mkdir -p .martlet/products
                programs=$(go list -f '{{if eq .Name "main"}}{{.ImportPath}}{{end}}' ./...) || exit
                for program in $programs; do
                  go build -o .martlet/products/ "$@" "$program" || exit
                done
                """, needs: ["go"], takesFlags: true),
        caches: [
            "GOPATH": "{cache}/go", "GOCACHE": "{cache}/go-build", "GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local",
        ],
        packages: ["go": "golang-go"])
}
