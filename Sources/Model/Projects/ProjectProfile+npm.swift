extension ProjectProfile {
    /// JavaScript. Node's own test runner writes JUnit besides its console output (Node 20.12 and newer). The console output of other test runners is
    /// read. npm packs the files that `files` lists. A package without that list is not packed, because npm would include the build directories.
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
                before=$(key) log=.martlet/npm.log
                mkdir -p .martlet
                if [ -f package-lock.json ] || [ -f npm-shrinkwrap.json ]; then set -- ci; else set -- install --no-package-lock; fi
                { npm "$@" --no-audit --no-fund; echo $? >"$log.status"; } 2>&1 | tee "$log"
                status=$(cat "$log.status")
                [ "$status" = 0 ] || exit "$status"
                if grep -q 'Exit handler never called' "$log"; then
                  echo "npm $1 stopped early but ended with 0: its dependencies are not installed"; exit 1
                fi
                omitted=$(npm config get omit 2>/dev/null)
                node -e '\(installed)' "$omitted" || exit
                echo "$before" >"$stamp"
                """, needs: ["node", "npm"]),
        analyses: [
            Analysis(
                name: "eslint",
                markers: [
                    "eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts", ".eslintrc",
                    ".eslintrc.js",
                    ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yml", ".eslintrc.yaml",
                ],
                command: Command(
                    script: """
                        PATH=$PWD/node_modules/.bin:$PATH
                        need eslint
                        mkdir -p .martlet/analyze
                        eslint --format json --output-file .martlet/analyze/eslint.json .
                        status=$?
                        [ $status = 1 ] || exit $status
                        """, report: [".martlet/analyze/eslint.json"]))
        ],
        build: Command(
            script: """
                # Node starts faster than npm, which workspaces of .npmrc can give another meaning.
                if [ ! -f .npmrc ]; then
                  node -e 'process.exit((require("./package.json").scripts || {}).build ? 0 : 3)' 2>/dev/null
                  if [ $? = 3 ]; then echo 'package.json has no script "build"'; exit 0; fi
                fi
                exec npm run build --if-present
                """, needs: ["node", "npm"]),
        test: Command(
            script: """
                report=.martlet/test/node.xml
                if [ -n "${MARTLET_TESTS-}" ]; then
                  # NODE_OPTIONS may not contain the option that chooses tests.
                  mkdir -p .martlet/bin
                  { echo '#!/bin/sh'; echo "node='$(command -v node)'"; cat <<'NODE'
                \(chosenTests)
                NODE
                  } >.martlet/bin/node
                  chmod +x .martlet/bin/node
                  PATH=$PWD/.martlet/bin:$PATH
                fi
                node -e 'const t = (require("./package.json").scripts || {}).test; process.exit(t && !/no test specified/.test(t) ? 0 : 1)' ||
                  none 'package.json has no script "test"'
                if node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || a == 20 && b >= 12 ? 0 : 1)'; then
                  # The tests may run in another directory.
                  added=$(node -e '\(reporters)' "$PWD/$report") && runs=node || runs=
                  if [ -n "$added" ]; then
                    NODE_OPTIONS="${NODE_OPTIONS-} $added"
                    export NODE_OPTIONS
                    if [ -n "$runs" ]; then
                      npm test -- "$@"
                      status=$?
                      # The project says how it is tested, so that a run without any test is its mistake: a file that was renamed, a filter.
                      if [ $status = 0 ] && [ -s "$report" ] && ! grep -q '<testcase' "$report"; then
                        echo; echo 'martlet: no report: the script "test" of package.json ended with 0 and ran no test'; exit 1
                      fi
                      reported $status "$report"
                    fi
                  fi
                fi
                exec npm test -- "$@"
                """, needs: ["node", "npm"], takesFlags: true, filter: .node, report: [".martlet/test/node.xml"]),
        archive: Command(
            script: """
                node -e 'const p = require("./package.json"); process.exit(p.name && p.version && p.files ? 0 : 1)' || exit 0
                mkdir -p .martlet/products
                exec npm pack --ignore-scripts --pack-destination .martlet/products
                """, needs: ["node", "npm"]),
        caches: ["npm_config_cache": "{cache}/npm"], kept: ["node_modules"],
        packages: ["node": "nodejs", "npm": "npm", "eslint": "eslint (npm install --save-dev eslint)"])

    /// Starts Node so that its test runner runs only the chosen tests. Other programs ignore the option.
    private static let chosenTests = """
        set -f
        IFS='
        '
        for pattern in $MARTLET_TESTS; do set -- "--test-name-pattern=$pattern" "$@"; done
        unset IFS
        exec "$node" "$@"
        """

    /// Fails with 1 if a direct dependency is not installed, or a package in the lock file that npm writes beside the packages. npm has been seen to
    /// succeed without installing anything.
    private static let installed = """
        const fs = require("fs"), p = require("./package.json"), omitted = process.argv[1] || "";
        const wanted = Object.keys({...p.dependencies, ...(omitted.includes("dev") ? {} : p.devDependencies)})
          .filter(name => !(p.optionalDependencies || {})[name]).map(name => "node_modules/" + name);
        let lock = {};
        try { lock = JSON.parse(fs.readFileSync("node_modules/.package-lock.json", "utf8")).packages || {} } catch {}
        for (const path in lock) if (!lock[path].optional && !lock[path].peer) wanted.push(path);
        const missing = wanted.filter(path => !fs.existsSync(path));
        if (missing.length) {
          console.log(`npm ended with 0, and ${missing.length} of ${wanted.length} packages are not there: ` + missing.slice(0, 5).join(", "));
          process.exit(1);
        }
        """

    /// Prints the options that make Node's own test runner write JUnit in addition to what the script `test` requests.
    ///
    /// Fails with 1 if the script does not start the test runner by `--test`. Options are then printed only if the script runs a single file that
    /// uses `node:test`. Packages of a workspace, and programs that start Node themselves, would all write the same report.
    ///
    /// Node pairs reporters with destinations in their order. It requires as many of one as of the other, unless there is a single reporter. A
    /// reporter that the script names without a destination keeps the console.
    private static let reporters = """
        const scripts = require("./package.json").scripts || {}, seen = new Set();
        const text = name => {
          if (seen.has(name) || !scripts[name]) return "";
          seen.add(name);
          const own = scripts[name];
          return own + "\\n" + [...own.matchAll(/(?:npm|yarn|pnpm)(?: run)? ([\\w:.-]+)/g)].map(m => text(m[1])).join("\\n");
        };
        const all = text("test"), runs = all.split(/[\\n;&|]+/).filter(run => /\\b(node|tsx)\\b.*\\s--test(\\s|$|=)/.test(run));
        const forms = runs.map(run => {
          const count = option => (run.match(new RegExp("--test-" + option + "[= ]", "g")) || []).length;
          return count("reporter") + "/" + count("reporter-destination");
        });
        // Node splits its options at blanks outside of double quotes, inside of which a backslash escapes.
        const place = /[\\s"\\\\]/.test(process.argv[1]) ? JSON.stringify(process.argv[1]) : process.argv[1];
        const junit = "--test-reporter=junit --test-reporter-destination=" + place;
        // A program that is started with a file for Node runs tests as well. Of several, each would overwrite the report.
        const files = [...all.matchAll(/(?:^|[\\n;&|])\\s*node +([^\\s;&|-][^\\s;&|]*)/g)].map(m => m[1]);
        const own = () => { try { return /node:test/.test(require("fs").readFileSync(files[0], "utf8")) } catch { return false } };
        if (new Set(forms).size < 2 && (runs.length || files.length == 1 && own())) {
          const [reporters, destinations] = (forms[0] || "0/0").split("/").map(Number);
          if (!reporters) console.log("--test-reporter=spec --test-reporter-destination=stdout " + junit);
          else if (!destinations) console.log(junit + " --test-reporter-destination=stdout");
          else if (reporters === destinations) console.log(junit);
        }
        process.exitCode = runs.length ? 0 : 1;
        """
}
