extension ProjectProfile {
    /// Java, Kotlin and other languages with Gradle, by the project's own wrapper if it has one. Martlet's script resolves every configuration,
    /// because Gradle fetches only what a task needs.
    static let gradle = ProjectProfile(
        title: "Gradle project",
        markers: ["settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts"],
        resolve: Command(
            script: """
                \(gradleCommand)
                mkdir -p .martlet
                cat >.martlet/resolve.gradle <<'GRADLE'
                allprojects { task("martletResolve") { doLast {
                  configurations.findAll { it.canBeResolved }.each { it.incoming.artifactView { lenient(true) }.files.files }
                } } }
                GRADLE
                gradle -I .martlet/resolve.gradle "$@" martletResolve testClasses
                """, needs: ["java"], takesFlags: true),
        build: Command(
            script: """
                \(gradleCommand)
                gradle --offline "$@" assemble testClasses
                """, needs: ["java"], takesFlags: true),
        test: Command(
            script: """
                \(gradleCommand)
                [ -n "$(find . -path ./.martlet -prune -o -type d -path '*/src/*[tT]est*' -print | head -n 1)" ] ||
                  none 'no project has a directory src/test'
                gradle --offline --continue "$@" test
                status=$?
                # A path may have a blank.
                if [ -n "$(find . -path '*/build/test-results/*' -name 'TEST-*.xml' -size +0 | head -n 1)" ]; then exit $status; fi
                reported $status '**/build/test-results/**/TEST-*.xml'
                """, needs: ["java"], takesFlags: true, report: ["**/build/test-results/**/TEST-*.xml"]),
        archive: Command(
            script: """
                mkdir -p .martlet/products
                find . -path ./.martlet -prune -o -path '*/build/libs/*.[jw]ar' -exec cp -t .martlet/products {} +
                """),
        caches: ["GRADLE_USER_HOME": "{cache}/gradle"], kept: ["build", ".gradle"],
        packages: ["java": "default-jdk-headless", "gradle": "gradle"])

    private static let gradleCommand = """
        gradle() {
          set -- --no-daemon --console=plain "$@"
          if [ -f gradlew ]; then sh ./gradlew "$@"; else need gradle; command gradle "$@"; fi
        }
        """

    /// C#, F# and Visual Basic. A test project is one that refers to Microsoft's test SDK. The products are NuGet packages.
    static let dotnet = ProjectProfile(
        title: ".NET project", markers: ["*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj"],
        resolve: Command(script: "exec dotnet restore\n", needs: ["dotnet"]),
        build: Command(script: "exec dotnet build --no-restore \"$@\"\n", needs: ["dotnet"], takesFlags: true),
        test: Command(
            script: """
                grep -rqsE 'Microsoft.NET.Test.Sdk|MSTest.Sdk|TUnit' --include='*.*proj' --include='*.props' . || none 'no project refers to Microsoft.NET.Test.Sdk'
                dotnet test --no-build "$@" --logger trx --results-directory .martlet/test/dotnet
                reported $? '.martlet/test/dotnet/*.trx'
                """, needs: ["dotnet"], takesFlags: true, report: [".martlet/test/dotnet/*.trx"]),
        archive: Command(
            script: "exec dotnet pack --no-build \"$@\" -o .martlet/products\n", needs: ["dotnet"], takesFlags: true),
        caches: [
            "NUGET_PACKAGES": "{cache}/nuget", "DOTNET_CLI_HOME": "{cache}/dotnet", "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
            "DOTNET_NOLOGO": "1",
        ],
        packages: ["dotnet": "dotnet-sdk-8.0 (from Microsoft)"], releaseFlags: ["-c", "Release"])
}

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
                """, needs: ["mvn"], takesFlags: true, filter: .maven, report: ["**/target/surefire-reports/TEST-*.xml"]
        ),
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
