extension ProjectProfile {
    /// Java. Maven fetches dependencies while it works, and Surefire fetches its test runner only if there is a test class. Resolving therefore
    /// compiles and packages once with the network, and makes Surefire run a method that no class has. All later steps are offline.
    static let maven = ProjectProfile(
        title: "Maven project", markers: ["pom.xml"],
        resolve: Command(
            script: """
                stamp=.martlet/resolved
                key() { find . -name pom.xml -not -path './.martlet/*' | LC_ALL=C sort | xargs -d '\\n' cat | sha256sum; }
                if [ "$(cat "$stamp" 2>/dev/null)" = "$(key) $*" ]; then
                  echo 'unchanged since the dependencies were resolved last'; exit 0
                fi
                rm -f "$stamp"
                mvn -B -ntp -DskipTests "$@" package || exit
                mvn -B -ntp "$@" -Dtest='*#noMethodHasThisName' -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false test ||
                  echo 'the part of Surefire that runs the tests may be missing; testing will say so'
                if ! mvn -B -o -q -DskipTests "$@" test-compile; then
                  echo 'mvn ended with 0, and without a network the project does not compile: not all of its dependencies are here'; exit 1
                fi
                echo "$(key) $*" >"$stamp"
                """, needs: ["mvn"], takesFlags: true),
        build: Command(
            script: """
                exec mvn -B -o -DskipTests "$@" test-compile
                """, needs: ["mvn"], takesFlags: true),
        test: Command(
            script: """
                exec mvn -B -o --fail-at-end "$@" test
                """, needs: ["mvn"], takesFlags: true, report: ["**/target/surefire-reports/TEST-*.xml"]),
        archive: Command(
            script: """
                mvn -B -o -DskipTests "$@" package || exit
                mkdir -p .martlet/products
                find . -path ./.martlet -prune -o -path '*/target/*.[jw]ar' -not -path '*/target/*/*' \
                    -exec cp -t .martlet/products {} +
                """, needs: ["mvn"], takesFlags: true),
        caches: ["MAVEN_OPTS": "-Dmaven.repo.local={cache}/m2"], kept: ["target"],
        packages: ["mvn": "maven"])
}
