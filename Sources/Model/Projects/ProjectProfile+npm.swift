extension ProjectProfile {
    /// JavaScript. Node's own test runner is told to write JUnit beside what it prints (Node 20.12 and newer); other runners are read
    /// by what they print. Packed is what a list `files` names; without one npm would pack the build directories too.
    static let npm = ProjectProfile(
        title: "npm package", markers: ["package.json"],
        resolve: Command(
            script: """
                stamp=.martlet/resolved
                key() { { node --version; cat package.json package-lock.json npm-shrinkwrap.json .npmrc; } 2>/dev/null | sha256sum; }
                if [ -d node_modules ] && [ "$(cat "$stamp" 2>/dev/null)" = "$(key)" ]; then
                  echo 'unchanged since the dependencies were resolved last'; exit 0
                fi
                rm -f "$stamp"
                before=$(key)
                if [ -f package-lock.json ] || [ -f npm-shrinkwrap.json ]; then
                  npm ci --no-audit --no-fund || exit
                else
                  npm install --no-audit --no-fund --no-package-lock || exit
                fi
                echo "$before" >"$stamp"
                """, needs: ["node", "npm"]),
        build: Command(script: "exec npm run build --if-present\n", needs: ["npm"]),
        test: Command(
            script: """
                node -e 'const t = (require("./package.json").scripts || {}).test; process.exit(t && !/no test specified/.test(t) ? 0 : 1)' ||
                  none 'package.json has no script "test"'
                if node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || a == 20 && b >= 12 ? 0 : 1)'; then
                  NODE_OPTIONS="${NODE_OPTIONS-} --test-reporter=spec --test-reporter-destination=stdout"
                  NODE_OPTIONS="$NODE_OPTIONS --test-reporter=junit --test-reporter-destination=.martlet/test/node.xml"
                  export NODE_OPTIONS
                fi
                exec npm test -- "$@"
                """, needs: ["node", "npm"], takesFlags: true, report: [".martlet/test/node.xml"]),
        archive: Command(
            script: """
                node -e 'const p = require("./package.json"); process.exit(p.name && p.version && p.files ? 0 : 1)' || exit 0
                mkdir -p .martlet/products
                exec npm pack --ignore-scripts --pack-destination .martlet/products
                """, needs: ["node", "npm"]),
        caches: ["npm_config_cache": "{cache}/npm"], kept: ["node_modules"],
        packages: ["node": "nodejs", "npm": "npm"])
}
