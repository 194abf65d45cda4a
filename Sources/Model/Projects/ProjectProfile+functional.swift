extension ProjectProfile {
    /// Elixir. Everything is built for the test environment, as `mix test` does.
    static let mix = ProjectProfile(
        title: "Mix project", markers: ["mix.exs"],
        resolve: Command(
            script: """
                export MIX_ENV=test
                # Without a dependency neither Hex nor rebar3 is needed.
                if cat mix.exs apps/*/mix.exs 2>/dev/null | sed 's/#.*//' | tr '\\n' ' ' |
                  grep -qE '\\{ *:[a-z0-9_]+ *, *("|~[rs]|\\[|(git|github|path|hex|only|in_umbrella|override|runtime|optional): )'; then
                  mix local.hex --force --if-missing && mix local.rebar --force --if-missing || exit
                fi
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

    /// Erlang. EUnit always runs; Common Test runs if there are suites. Both write JUnit, unless the project has its own `rebar.config.script`, which
    /// then determines its configuration.
    static let rebar3 = ProjectProfile(
        title: "rebar3 project", markers: ["rebar.config"],
        resolve: Command(
            script: """
                if ! find . -path ./_build -prune -o -path ./.martlet -prune -o -name 'rebar.config*' -print | grep -q script &&
                  ! find . -path ./_build -prune -o -path ./.martlet -prune -o -name rebar.config -exec cat {} + | grep -qE 'deps|plugins'; then
                  echo 'rebar.config names neither dependencies nor plugins'; exit 0
                fi
                exec rebar3 get-deps
                """, needs: ["rebar3"]),
        build: Command(
            script: """
                # rebar3 compares times in whole seconds: a file that changes in the second of the last compilation would be passed over.
                if [ -f .martlet/compiled ]; then
                  find . -path ./_build -prune -o -path ./.martlet -prune -o -type f '(' -name '*.[eh]rl' -o -name '*.[xy]rl' -o -name '*.src' ')' \
                    -newer .martlet/compiled -exec touch -d '2 seconds' {} +
                fi
                mkdir -p .martlet
                : >.martlet/compiled
                exec rebar3 compile
                """, needs: ["rebar3"]),
        test: Command(
            script: """
                suites=$(find . -path ./_build -prune -o -name '*_SUITE.erl' -print | head -n 1)
                [ -n "$suites$(grep -rlE --include='*.erl' --exclude-dir=_build 'eunit\\.hrl|_test_?\\(' . | head -n 1)" ] ||
                  none 'there is neither a test for EUnit nor a suite for Common Test'
                if [ ! -e rebar.config.script ]; then
                  trap 'rm -f rebar.config.script' EXIT
                  cat >rebar.config.script <<'ERLANG'
                \(reportingErlang)
                ERLANG
                fi
                rebar3 eunit "$@" || exit
                if [ -n "$suites" ]; then rebar3 ct || exit; fi
                """, needs: ["rebar3"], takesFlags: true, report: [".martlet/test/*.xml"]),
        archive: Command(
            script: """
                grep -q relx rebar.config || exit 0
                rebar3 as prod tar || exit
                mkdir -p .martlet/products
                cp _build/prod/rel/*/*.tar.gz .martlet/products
                """, needs: ["rebar3"]),
        caches: ["REBAR_CACHE_DIR": "{cache}/rebar3"], kept: ["_build"], packages: ["rebar3": "rebar3"])

    /// A `rebar.config.script` that makes EUnit and Common Test also write JUnit. The command line of rebar3 cannot do that.
    private static let reportingErlang = """
        Directory = filename:absname(".martlet/test"),
        Add = fun(Key, Inner, Values) ->
          Own = proplists:get_value(Key, CONFIG, []),
          Both = case Inner of
            none -> Own ++ Values;
            _ -> lists:keystore(Inner, 1, Own, {Inner, proplists:get_value(Inner, Own, []) ++ Values})
          end,
          {Key, Both}
        end,
        EUnit = Add(eunit_opts, none, [{report, {eunit_surefire, [{dir, Directory}]}}]),
        CommonTest = Add(ct_opts, ct_hooks, [{cth_surefire, [{path, filename:join(Directory, "common_test.xml")}]}]),
        lists:keystore(ct_opts, 1, lists:keystore(eunit_opts, 1, CONFIG, EUnit), CommonTest).
        """

    /// OCaml. Its dependencies are those installed on the machine. Without `--force`, dune does not repeat a test that it has already run.
    static let dune = ProjectProfile(
        title: "dune project", markers: ["dune-project"],
        build: Command(script: "exec dune build \"$@\"\n", needs: ["dune"], takesFlags: true),
        test: Command(
            script: """
                [ -n "$(grep -rlE --include=dune '\\((test|tests|inline_tests|cram|rule)' . | head -n 1)" ] || [ -n "$(find . -name '*.t' | head -n 1)" ] ||
                  none 'no dune file has a stanza test'
                exec dune runtest --force "$@"
                """, needs: ["dune"], takesFlags: true),
        archive: Command(
            script: "exec dune install --prefix \"$PWD/.martlet/products\" \"$@\"\n", needs: ["dune"], takesFlags: true),
        caches: ["DUNE_CACHE_ROOT": "{cache}/dune"], kept: ["_build"], packages: ["dune": "ocaml-dune"],
        releaseFlags: ["--profile", "release"])

    /// Haskell with Stack, which installs the compiler that the project specifies.
    static let stack = ProjectProfile(
        title: "Stack project", markers: ["stack.yaml"],
        resolve: Command(
            script: "exec stack build --test --only-dependencies \"$@\"\n", needs: ["stack"], takesFlags: true),
        build: Command(script: "exec stack build --test --no-run-tests \"$@\"\n", needs: ["stack"], takesFlags: true),
        test: Command(
            script: """
                \(have)
                have '(test-suite[[:space:]]|tests:)' || none 'no package has a test suite'
                exec stack test "$@"
                """, needs: ["stack"], takesFlags: true),
        archive: Command(
            script: "exec stack install --local-bin-path .martlet/products \"$@\"\n", needs: ["stack"], takesFlags: true
        ),
        caches: ["STACK_ROOT": "{cache}/stack"], kept: [".stack-work"], packages: ["stack": "haskell-stack"])

    /// Haskell with cabal-install and the machine's compiler. If that compiler's packages are all that the project depends on, no package index is
    /// needed.
    static let cabal = ProjectProfile(
        title: "Cabal project", markers: ["cabal.project", "*.cabal"],
        resolve: Command(
            script: """
                mkdir -p .martlet
                echo '-- It names no repository.' >.martlet/own-packages
                if CABAL_CONFIG=$PWD/.martlet/own-packages cabal build --offline --only-dependencies --enable-tests "$@" all; then
                  echo 'the machine has all packages that it depends on'; exit 0
                fi
                rm -f .martlet/own-packages
                cabal update || exit
                exec cabal build --only-dependencies --enable-tests "$@" all
                """, needs: ["cabal"], takesFlags: true),
        build: Command(
            script: "\(cabalConfig)\nexec cabal build --offline --enable-tests \"$@\" all\n", needs: ["cabal"],
            takesFlags: true),
        test: Command(
            script: """
                \(have)
                have '(test-suite[[:space:]]|tests:)' || none 'no package has a test suite'
                \(cabalConfig)
                exec cabal test --offline --test-show-details=direct "$@" all
                """, needs: ["cabal"], takesFlags: true),
        archive: Command(
            script: """
                \(have)
                have '(executable[[:space:]]|executables?:)' || exit 0
                mkdir -p .martlet/products
                \(cabalConfig)
                exec cabal install --offline --installdir=.martlet/products --install-method=copy "$@" all:exes
                """, needs: ["cabal"], takesFlags: true),
        caches: ["CABAL_DIR": "{cache}/cabal"], kept: ["dist-newstyle"], packages: ["cabal": "cabal-install"],
        releaseFlags: ["-O2"])

    /// Defines a shell function that succeeds if a line of any package description begins with a match of the regular expression. Case is ignored, as
    /// in such descriptions.
    private static let have = """
        have() {
          find . '(' -name .stack-work -o -name dist-newstyle -o -name .martlet -o -name .git ')' -prune -o \
              -type f '(' -name '*.cabal' -o -name package.yaml ')' -exec grep -liE "^[[:space:]]*$1" {} + | grep -q .
        }
        """

    /// Without a package index cabal fetches one, even if it is told to stay offline (3.4). It therefore gets a configuration without repositories.
    private static let cabalConfig = """
        if [ -f .martlet/own-packages ]; then export CABAL_CONFIG="$PWD/.martlet/own-packages"; fi
        """
}
