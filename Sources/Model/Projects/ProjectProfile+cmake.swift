extension ProjectProfile {
    /// C and C++. The configuration's flags go to CMake, as in `-DCMAKE_BUILD_TYPE=Release`. The products are what the project
    /// installs, below their absolute places.
    static let cmake = ProjectProfile(
        title: "CMake project", markers: ["CMakeLists.txt"],
        build: Command(
            script: """
                cmake -S . -B .martlet/build "$@" || exit
                exec cmake --build .martlet/build --parallel "$(nproc)"
                """, needs: ["cmake"], takesFlags: true),
        test: Command(
            script: """
                if ctest --test-dir .martlet/build -N "$@" | grep -q '^Total Tests: 0'; then none 'CTest has none'; fi
                exec ctest --test-dir .martlet/build --output-on-failure --output-junit "$PWD/.martlet/test/ctest.xml" "$@"
                """, needs: ["ctest"], filter: "--tests-regex", report: [".martlet/test/ctest.xml"]),
        archive: Command(
            script: """
                if [ ! -f .martlet/build/cmake_install.cmake ]; then exit 0; fi
                mkdir -p .martlet/products
                DESTDIR="$PWD/.martlet/products" exec cmake --install .martlet/build
                """, needs: ["cmake"]),
        packages: ["cmake": "cmake", "ctest": "cmake"])
}
