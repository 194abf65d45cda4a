import Foundation
import TestSupport
import Testing

/// A small project of a type, without external dependencies, with the changes that make a test fail and that break the compilation.
struct ProjectFixture: Sendable, CustomTestStringConvertible {
    var name: String
    /// Programs that must all exist. Otherwise the test is skipped with their names.
    var programs: [String]
    /// A directory outside of /usr, for programs that a user has installed there.
    var path: String?
    var files: [String: String]
    /// The file that is changed, and its text with a wrong result and with one that cannot be compiled.
    var source: String
    var wrong: String
    var broken: String
    /// The end of the result's line after `kit#1 succeeded: `, if a report counts the tests.
    var tests = ""
    /// The verdict of a source that cannot be compiled. If nothing is compiled, its tests fail.
    var brokenVerdict = "build-errors"

    var testDescription: String { name }

    /// Whether the programs are at paths that a sandboxed job sees.
    var isHere: Bool {
        let places = [path, "/usr/bin", "/usr/local/bin"].compactMap(\.self)
        return programs.allSatisfy { program in
            program.hasPrefix("/")
                ? FileManager.default.fileExists(atPath: program)
                : places.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
        }
    }

    static let cmake = ProjectFixture(
        name: "cmake", programs: ["cmake", "ctest", "cc"],
        files: [
            "CMakeLists.txt": """
            cmake_minimum_required(VERSION 3.13)
            project(kit C)
            enable_testing()
            add_executable(kit-test test.c kit.c)
            add_test(NAME one-is-one COMMAND kit-test 1)
            add_test(NAME one-is-not-two COMMAND kit-test 2)

            """,
            "test.c": """
            int one(void);
            int main(int count, char **words) { return words[1][0] == '1' ? one() != 1 : one() == 2; }

            """, "kit.c": "int one(void) { return 1; }\n",
        ], source: "kit.c", wrong: "int one(void) { return 2; }\n", broken: "int one(void) { return nothing; }\n",
        tests: "2 tests")

    static let make = ProjectFixture(
        name: "make", programs: ["make", "cc"],
        files: [
            "Makefile": "all: kit\nkit: kit.c\n\tcc -o kit kit.c\ncheck: kit\n\t./kit\n",
            "kit.c": "int main(void) { return 0; }\n",
        ], source: "kit.c", wrong: "int main(void) { return 1; }\n", broken: "int main(void) { return nothing; }\n",
        tests: "no tests listed")

    static let go = ProjectFixture(
        name: "go", programs: ["go"],
        files: [
            "go.mod": "module example.org/kit\n\ngo 1.19\n", "kit.go": "package kit\n\nfunc one() int { return 1 }\n",
            "kit_test.go": """
            package kit

            import "testing"

            func TestOneIsOne(t *testing.T) {
            \tif one() != 1 {
            \t\tt.Error("one is not 1")
            \t}
            }

            func TestOneIsNotTwo(t *testing.T) {
            \tif one() == 2 {
            \t\tt.Error("one is 2")
            \t}
            }

            """,
        ], source: "kit.go", wrong: "package kit\n\nfunc one() int { return 2 }\n",
        broken: "package kit\n\nfunc one() int { return nothing }\n")

    static let cargo = ProjectFixture(
        name: "cargo", programs: ["cargo", "rustc", "cc"], path: toolchain,
        files: [
            "Cargo.toml": "[package]\nname = \"kit\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            "src/lib.rs": "pub fn one() -> i32 {\n    1\n}\n",
            "tests/one.rs": """
            #[test]
            fn one_is_one() {
                assert_eq!(kit::one(), 1);
            }
            #[test]
            fn one_is_not_two() {
                assert_ne!(kit::one(), 2);
            }

            """,
        ], source: "src/lib.rs", wrong: "pub fn one() -> i32 {\n    2\n}\n",
        broken: "pub fn one() -> i32 {\n    nothing\n}\n")

    static let python = ProjectFixture(
        name: "python", programs: ["python3", "pytest-3", "/usr/lib/python3.11/ensurepip"],
        files: [
            "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = [\".\"]\n",
            "kit.py": "def one():\n    return 1\n",
            "test_kit.py": """
            import kit

            def test_one_is_one():
                assert kit.one() == 1

            def test_one_is_not_two():
                assert kit.one() != 2

            """,
        ], source: "kit.py", wrong: "def one():\n    return 2\n", broken: "def one(:\n", tests: "2 tests",
        brokenVerdict: "test-failures")

    static let npm = ProjectFixture(
        name: "npm", programs: ["node", "npm"],
        files: [
            "package.json":
                #"{ "name": "kit", "version": "1.0.0", "scripts": { "build": "node --check kit.js", "test": "node --test" } }"#,
            "kit.js": "exports.one = () => 1;\n",
            "kit.test.js": """
            const test = require("node:test"), assert = require("node:assert"), kit = require("./kit.js");
            test("one is one", () => assert.equal(kit.one(), 1));
            test("one is not two", () => assert.notEqual(kit.one(), 2));

            """,
        ], source: "kit.js", wrong: "exports.one = () => 2;\n", broken: "exports.one = (=> 1;\n", tests: "2 tests")

    /// Debian's own Maven repository replaces the one on the network.
    static let maven = ProjectFixture(
        name: "maven",
        programs: [
            "mvn", "/usr/share/maven-repo/org/apache/maven/surefire/surefire-junit4",
            "/usr/share/maven-repo/org/apache/maven/plugins/maven-compiler-plugin",
        ],
        files: [
            ".martlet.yml": "configurations: { debug: { flags: [-s, settings.xml] } }\n",
            "settings.xml": """
            <settings><mirrors><mirror><id>debian</id><mirrorOf>*</mirrorOf><url>file:///usr/share/maven-repo</url></mirror>
            </mirrors></settings>
            """,
            "pom.xml": """
            <project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
            <groupId>org.example</groupId><artifactId>kit</artifactId><version>1.0</version>
            <properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>
            </properties><dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId>
            <version>4.x</version><scope>test</scope></dependency></dependencies></project>
            """,
            "src/main/java/Kit.java": "class Kit { static int one() { return 1; } }\n",
            "src/test/java/KitTest.java": """
            import static org.junit.Assert.*;
            public class KitTest {
                @org.junit.Test public void oneIsOne() { assertEquals(1, Kit.one()); }
                @org.junit.Test public void oneIsNotTwo() { assertNotEquals(2, Kit.one()); }
            }

            """,
        ], source: "src/main/java/Kit.java", wrong: "class Kit { static int one() { return 2; } }\n",
        broken: "class Kit { static int one() { return nothing; } }\n", tests: "2 tests")

    /// The directory of the compiler itself. The programs that rustup puts into PATH need its home.
    private static let toolchain: String? = {
        let home = ProcessInfo.processInfo.environment["HOME"] ?? ""
        let all = home + "/.rustup/toolchains"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: all))?.sorted() ?? []
        return names.first { $0.hasPrefix("stable") }.map { "\(all)/\($0)/bin" }
    }()
}
