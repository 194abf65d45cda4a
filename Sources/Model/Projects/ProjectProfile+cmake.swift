extension ProjectProfile {
    /// C and C++. The configuration's flags go to CMake, such as `-DCMAKE_BUILD_TYPE=Release`. The products are what the project installs, below
    /// their absolute paths.
    ///
    /// Tests that an option enables are built. Such an option is recognized by its name, and is off by default in many projects. If the project
    /// cannot be configured with the tests because a dependency is not installed, it is built without them.
    static let cmake = ProjectProfile(
        title: "CMake project", markers: ["CMakeLists.txt"],
        analyses: [
            Analysis(
                name: "clang-tidy", markers: [".clang-tidy"],
                command: Command(
                    script: """
                        need clang-tidy
                        \(compileCommands)
                        sed -n 's/^ *"file": "\\(.*\\)",*$/\\1/p' .martlet/build/compile_commands.json | sort -u | tr '\\n' '\\000' |
                          xargs -0 -r clang-tidy -p .martlet/build --quiet
                        """, needs: ["cmake"], takesFlags: true)),
            Analysis(
                name: "cppcheck",
                command: Command(
                    script: """
                        need cppcheck
                        \(compileCommands)
                        mkdir -p .martlet/analyze
                        exec cppcheck --quiet --project=.martlet/build/compile_commands.json --xml \
                            --output-file=.martlet/analyze/cppcheck.xml
                        """, needs: ["cmake"], takesFlags: true, report: [".martlet/analyze/cppcheck.xml"])),
        ],
        build: Command(
            script: """
                \(testOptions)
                \(libraryDirectory)
                \(misses)
                configure() { cmake -S . -B .martlet/build $library "$@"; }
                rm -f .martlet/untested
                if [ -z "$tests" ]; then
                  configure "$@" || exit
                else
                  mkdir -p .martlet
                  { configure $tests "$@"; echo $? >.martlet/configured.status; } 2>&1 | tee .martlet/configured.log
                  status=$(cat .martlet/configured.status)
                fi
                if [ -n "$tests" ] && [ "$status" != 0 ]; then
                  # Another mistake than something that is not installed is the commit's own.
                  misses .martlet/configured.log || exit "$status"
                  echo "the project cannot be configured with $tests, which need something that is not installed; it is built without"
                  configure $(echo "$tests" | sed 's/=ON/=OFF/g') "$@" || exit
                  echo "it cannot be configured with $tests; see the log of the build" >.martlet/untested
                fi
                exec cmake --build .martlet/build --parallel "$(nproc)"
                """, needs: ["cmake"], takesFlags: true),
        test: Command(
            script: """
                report=.martlet/test/ctest.xml
                if ctest --test-dir .martlet/build -N "$@" | grep -q '^Total Tests: 0'; then
                  none "$(cat .martlet/untested 2>/dev/null || echo 'CTest has none')"
                fi
                if [ -f .martlet/untested ]; then echo "not all tests are run: $(cat .martlet/untested)"; fi
                ctest --test-dir .martlet/build --output-on-failure --output-junit "$PWD/$report" "$@"
                reported $? "$report"
                """, needs: ["ctest"], filter: .ctest, report: [".martlet/test/ctest.xml"]),
        archive: Command(
            script: """
                if [ ! -f .martlet/build/cmake_install.cmake ]; then exit 0; fi
                mkdir -p .martlet/products
                DESTDIR="$PWD/.martlet/products" exec cmake --install .martlet/build
                """, needs: ["cmake"]),
        packages: ["cmake": "cmake", "ctest": "cmake", "clang-tidy": "clang-tidy", "cppcheck": "cppcheck"],
        releaseFlags: ["-DCMAKE_BUILD_TYPE=Release"])

    /// Defines a shell function. It succeeds if an error in CMake's output states that a dependency is not installed (`find_package`, `find_library`,
    /// `pkg_check_modules`) or cannot be fetched (`FetchContent`). Warnings and notes about optional dependencies contain the same words.
    private static let misses = """
        misses() {
          awk '/^[^ ]/ { error = /^CMake Error/ } error' "$1" | grep -qE \
              'Could NOT find|Could not find (a package|[^ ]+ using)|By not providing "Find|[Rr]equired packages? w(as|ere) not found|None of the required .* found|Build step for .* failed'
        }
        """

    /// Writes `compile_commands.json` to the build directory.
    private static let compileCommands = """
        cmake -S . -B .martlet/build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" >.martlet/configured.log || { cat .martlet/configured.log; exit 1; }
        """

    /// Sets `tests` to the definitions that enable the tests. These are the options with names like `KIT_BUILD_TESTS`, `ENABLE_TESTING` or
    /// `KIT_WITH_UNIT_TESTS`, and `BUILD_TESTING` if the list file uses it.
    private static let testOptions = """
        tests=$(sed 's/#.*//' CMakeLists.txt | tr '\\n\\t' '  ' | grep -oiE '(^|[[:space:]])(cmake_dependent_)?option *\\( *"?[a-z0-9_]+' |
          sed 's/.*[( "]//' | grep -iE '^([a-z0-9_]+_)?(build|enable|with)_?(unit_?)?(test|tests|testing)$' | sort -u)
        if grep -q BUILD_TESTING CMakeLists.txt; then tests="BUILD_TESTING $tests"; fi
        tests=$(printf '%s\\n' $tests | sort -u | sed -n 's/..*/-D&=ON/p' | tr '\\n' ' ' | sed 's/ $//')
        """

    /// Sets `library` if CMake would install into `lib64` although the machine has its libraries in `lib`. CMake decides that by a file that the
    /// sandbox does not show (GNUInstallDirs, `/etc/debian_version`).
    private static let libraryDirectory = """
        library=-DCMAKE_INSTALL_LIBDIR=lib
        if ls /usr/lib64/libc.so.6 >/dev/null 2>&1; then library=; fi
        for flag; do case $flag in -DCMAKE_INSTALL_LIBDIR*) library= ;; esac; done
        """
}
