extension ProjectProfile {
    /// Go modules. `-exec=true` compiles and links every test and runs none of them.
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
                        export GOPROXY=off
                        exec go vet ./...
                        """, needs: ["go"]))
        ],
        build: Command(
            script: """
                export GOPROXY=off
                go build -o /dev/null "$@" ./... || exit
                exec go test -vet=off -exec=true "$@" ./...
                """, needs: ["go"], takesFlags: true),
        test: Command(
            script: """
                export GOPROXY=off
                exec go test -v "$@" ./...
                """, needs: ["go"], takesFlags: true, filter: "-run="),
        archive: Command(
            script: """
                export GOPROXY=off
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
