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
                """, needs: ["go"], takesFlags: true, filter: "-run="),
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
