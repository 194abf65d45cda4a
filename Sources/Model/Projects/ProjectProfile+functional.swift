extension ProjectProfile {
    /// Elixir. All is built for the environment of the tests, as `mix test` does.
    static let mix = ProjectProfile(
        title: "Mix project", markers: ["mix.exs"],
        resolve: Command(
            script: """
                export MIX_ENV=test
                mix local.hex --force --if-missing && mix local.rebar --force --if-missing || exit
                exec mix deps.get
                """, needs: ["mix"]),
        build: Command(script: "MIX_ENV=test exec mix compile\n", needs: ["mix"]),
        test: Command(
            script: """
                [ -n "$(find . -path ./deps -prune -o -name '*_test.exs' -print | head -n 1)" ] || none 'there is no file *_test.exs'
                MIX_ENV=test exec mix test "$@"
                """, needs: ["mix"], takesFlags: true),
        archive: Command(
            script: """
                grep -q 'package:' mix.exs || exit 0
                mkdir -p .martlet/products
                exec mix hex.build -o .martlet/products/package.tar
                """, needs: ["mix"]),
        caches: ["MIX_HOME": "{cache}/mix", "HEX_HOME": "{cache}/hex", "REBAR_CACHE_DIR": "{cache}/rebar3"],
        kept: ["_build", "deps"], packages: ["mix": "elixir"])

    /// Erlang: EUnit always, Common Test where there are suites.
    static let rebar3 = ProjectProfile(
        title: "rebar3 project", markers: ["rebar.config"],
        resolve: Command(script: "exec rebar3 get-deps\n", needs: ["rebar3"]),
        build: Command(script: "exec rebar3 compile\n", needs: ["rebar3"]),
        test: Command(
            script: """
                rebar3 eunit "$@" || exit
                [ -z "$(find . -path ./_build -prune -o -name '*_SUITE.erl' -print | head -n 1)" ] || exec rebar3 ct
                """, needs: ["rebar3"], takesFlags: true),
        archive: Command(
            script: """
                grep -q relx rebar.config || exit 0
                rebar3 as prod tar || exit
                mkdir -p .martlet/products
                cp _build/prod/rel/*/*.tar.gz .martlet/products
                """, needs: ["rebar3"]),
        caches: ["REBAR_CACHE_DIR": "{cache}/rebar3"], kept: ["_build"], packages: ["rebar3": "rebar3"])

    /// OCaml. Its dependencies are the machine's own.
    static let dune = ProjectProfile(
        title: "dune project", markers: ["dune-project"],
        build: Command(script: "exec dune build \"$@\"\n", needs: ["dune"], takesFlags: true),
        test: Command(
            script: """
                [ -n "$(grep -rlE --include=dune '\\((test|tests|inline_tests|cram|rule)' . | head -n 1)" ] || [ -n "$(find . -name '*.t' | head -n 1)" ] ||
                  none 'no dune file has a stanza test'
                exec dune runtest "$@"
                """, needs: ["dune"], takesFlags: true),
        archive: Command(
            script: "exec dune install --prefix \"$PWD/.martlet/products\" \"$@\"\n", needs: ["dune"], takesFlags: true),
        caches: ["DUNE_CACHE_ROOT": "{cache}/dune"], kept: ["_build"], packages: ["dune": "ocaml-dune"],
        releaseFlags: ["--profile", "release"])

    /// Haskell with Stack, which installs the compiler that the project names.
    static let stack = ProjectProfile(
        title: "Stack project", markers: ["stack.yaml"],
        resolve: Command(
            script: "exec stack build --test --only-dependencies \"$@\"\n", needs: ["stack"], takesFlags: true),
        build: Command(script: "exec stack build --test --no-run-tests \"$@\"\n", needs: ["stack"], takesFlags: true),
        test: Command(
            script: """
                grep -qsE '^ *(test-suite |tests:)' *.cabal package.yaml */*.cabal */package.yaml || none 'no package has a test suite'
                exec stack test "$@"
                """, needs: ["stack"], takesFlags: true),
        archive: Command(
            script: "exec stack install --local-bin-path .martlet/products \"$@\"\n", needs: ["stack"], takesFlags: true
        ),
        caches: ["STACK_ROOT": "{cache}/stack"], kept: [".stack-work"], packages: ["stack": "haskell-stack"])

    /// Haskell with cabal-install and the machine's own compiler.
    static let cabal = ProjectProfile(
        title: "Cabal project", markers: ["cabal.project", "*.cabal"],
        resolve: Command(
            script: """
                cabal update || exit
                exec cabal build --only-dependencies --enable-tests "$@" all
                """, needs: ["cabal"], takesFlags: true),
        build: Command(
            script: "exec cabal build --offline --enable-tests \"$@\" all\n", needs: ["cabal"], takesFlags: true),
        test: Command(
            script: """
                grep -qsiE '^ *test-suite ' *.cabal */*.cabal || none 'no package has a test suite'
                exec cabal test --offline --test-show-details=direct "$@" all
                """, needs: ["cabal"], takesFlags: true),
        archive: Command(
            script: """
                grep -qsiE '^ *executable ' *.cabal */*.cabal || exit 0
                mkdir -p .martlet/products
                exec cabal install --offline --installdir=.martlet/products --install-method=copy "$@" all:exes
                """, needs: ["cabal"], takesFlags: true),
        caches: ["CABAL_DIR": "{cache}/cabal"], kept: ["dist-newstyle"], packages: ["cabal": "cabal-install"],
        releaseFlags: ["-O2"])
}
