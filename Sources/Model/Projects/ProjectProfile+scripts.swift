extension ProjectProfile {
    /// PHP. Dependencies are in `vendor`. PHPUnit and Pest write JUnit; other test runners are started by the script `test`. A project that has
    /// settings for PHPUnit but does not depend on it is tested by the PHPUnit of the machine.
    static let composer = ProjectProfile(
        title: "Composer project", markers: ["composer.json"],
        resolve: Command(
            script: """
                composer install --no-interaction --no-progress || exit
                [ -f vendor/autoload.php ] || { echo 'composer ended with 0 and left no vendor/autoload.php'; exit 1; }
                """, needs: ["composer"]),
        test: Command(
            script: """
                report=.martlet/test/phpunit.xml
                for runner in pest phpunit simple-phpunit; do
                  [ -f "vendor/bin/$runner" ] || continue
                  php "vendor/bin/$runner" --log-junit "$report" "$@"
                  reported $? "$report"
                done
                if [ -n "$(find . -maxdepth 1 -name 'phpunit*.xml*')" ] && command -v phpunit >/dev/null; then
                  phpunit --log-junit "$report" "$@"
                  reported $? "$report"
                fi
                php -r 'exit(isset(json_decode(file_get_contents("composer.json"), true)["scripts"]["test"]) ? 0 : 1);' ||
                  none 'there is neither PHPUnit, nor Pest, nor a script "test" in composer.json'
                exec composer run-script --no-interaction test
                """, needs: ["composer", "php"], takesFlags: true, report: [".martlet/test/phpunit.xml"]),
        archive: Command(script: "exec composer archive --dir=.martlet/products\n", needs: ["composer"]),
        caches: ["COMPOSER_HOME": "{cache}/composer", "COMPOSER_CACHE_DIR": "{cache}/composer-cache"], kept: ["vendor"],
        packages: ["composer": "composer", "php": "php-cli"])

    /// Ruby. If `spec` has files for RSpec, RSpec runs; otherwise the task `test` or `spec` of Rake, or else the files in `test`. The products are
    /// gems.
    ///
    /// The machine's gems are used if they satisfy the Gemfile. Bundler ignores them if `BUNDLE_PATH` is set.
    static let bundler = ProjectProfile(
        title: "Ruby project", markers: ["Gemfile", "*.gemspec", "Rakefile"],
        resolve: Command(
            script: """
                if [ ! -f Gemfile ]; then echo 'there is no Gemfile'; exit 0; fi
                need bundle
                mkdir -p .martlet
                rm -f .martlet/own-gems
                if env -u BUNDLE_PATH bundle install --local; then
                  : >.martlet/own-gems; echo "the machine has all gems of the Gemfile"; exit 0
                fi
                bundle install && exec bundle check
                """, needs: ["ruby"]),
        test: Command(
            script: """
                if [ -f .martlet/own-gems ]; then unset BUNDLE_PATH; fi
                in_bundle() { if [ -f Gemfile ]; then exec bundle exec "$@"; else exec "$@"; fi; }
                if [ -n "$(find spec -name '*_spec.rb' 2>/dev/null | head -n 1)" ]; then in_bundle rspec "$@"; fi
                if [ -f Rakefile ]; then
                  # The text nearly always says that there is this task, so that rake is asked only where it fails. A text that may define the
                  # task elsewhere or under a condition does not say so: without the task, `rake test` ends with 0 where there is a directory `test`.
                  status=
                  if sed -nE '/^(#.*|require[^;]*|desc [[:punct:]].*[[:punct:]]|[[:space:]]*)$/!{p;q;}' Rakefile |
                    grep -qE '^Rake::TestTask\\.new([ (]*[[:punct:]]test[[:punct:]]?[)]?)?[[:space:]]*(do|[{]|$)' &&
                    ! grep -qE '(end|[}])[[:space:]]+(if|unless)' Rakefile; then
                    (in_bundle rake test "$@") && exit
                    status=$?
                  fi
                  tasks=$([ -z "$status" ] || exec 2>/dev/null; in_bundle rake -P) || exit
                  for task in test spec; do
                    echo "$tasks" | grep -qx "rake $task" || continue
                    if [ "$task" = test ] && [ -n "$status" ]; then exit "$status"; fi
                    in_bundle rake "$task" "$@"
                  done
                fi
                [ -n "$(find test -name '*_test.rb' -o -name 'test_*.rb' 2>/dev/null | head -n 1)" ] || none 'there is neither spec nor test'
                in_bundle ruby -Ilib -Itest -e 'Dir["test/**/{*_test,test_*}.rb"].sort.each { |file| require "./" + file }'
                """, needs: ["ruby"], takesFlags: true),
        archive: Command(
            script: """
                mkdir -p .martlet/products
                for file in *.gemspec; do
                  [ ! -f "$file" ] || gem build "$file" -o ".martlet/products/${file%.gemspec}.gem" || exit
                done
                """, needs: ["gem"]),
        caches: ["BUNDLE_PATH": "{cache}/bundle", "BUNDLE_USER_HOME": "{cache}/bundle-home"], kept: [".bundle"],
        packages: ["ruby": "ruby", "gem": "ruby", "bundle": "bundler"])

    /// Lua, tested by busted. The dependencies of the rock are installed into a directory of the workspace.
    static let lua = ProjectProfile(
        title: "Lua project", markers: ["*.rockspec", ".busted"],
        resolve: Command(
            script: """
                set -- *.rockspec
                if [ ! -f "$1" ]; then echo 'there is no rockspec'; exit 0; fi
                stamp=.martlet/resolved
                # Rocks are installed for one version of Lua, which need not be that of `lua`.
                key=$({ readlink -f "$(command -v luarocks)" "$(command -v lua)"; luarocks config lua_version; cat "$1"; } 2>/dev/null | sha256sum)
                if [ "$(cat "$stamp" 2>/dev/null)" = "$key" ]; then
                  echo 'unchanged since the dependencies were resolved last'; exit 0
                fi
                rm -f "$stamp"
                mkdir -p .martlet
                luarocks --tree .martlet/rocks install --only-deps "$1" || exit
                echo "$key" >"$stamp"
                """, needs: ["luarocks"]),
        test: Command(
            script: """
                report=.martlet/test/busted.xml
                # busted itself looks into spec, or where .busted says.
                if [ ! -d spec ] && [ ! -f .busted ]; then
                  own=
                  for directory in test tests; do
                    [ -z "$(find "$directory" -name '*_spec.lua' 2>/dev/null | head -n 1)" ] || { own=$directory; break; }
                  done
                  [ -n "$own" ] || none 'there is neither a spec nor .busted'
                  set -- "$@" "$own"
                fi
                eval "$(luarocks --tree .martlet/rocks path 2>/dev/null)"
                busted --output=junit -Xoutput "$report" "$@"
                reported $? "$report"
                """, needs: ["busted"], takesFlags: true, report: [".martlet/test/busted.xml"]),
        packages: ["luarocks": "luarocks", "busted": "lua-busted"])

    /// Perl. The distribution's own `Makefile.PL` or `Build.PL` builds it. prove tests it and keeps the output of each test file. The Makefile states
    /// which files those are.
    static let perl = ProjectProfile(
        title: "Perl distribution", markers: ["Makefile.PL", "Build.PL", "cpanfile", "dist.ini"],
        resolve: Command(
            script: """
                if [ ! -f cpanfile ] && [ ! -f Makefile.PL ] && [ ! -f Build.PL ]; then echo 'nothing names dependencies'; exit 0; fi
                if ! command -v cpanm >/dev/null; then echo 'cpanm is not here: the dependencies are the machine'"'"'s own'; exit 0; fi
                exec cpanm --quiet --notest --local-lib .martlet/perl --installdeps .
                """, needs: ["perl"]),
        build: Command(
            script: """
                \(perlPath)
                if [ -f Build.PL ]; then perl Build.PL && exec ./Build; fi
                if [ -f Makefile.PL ]; then need make; perl Makefile.PL && exec make "$@"; fi
                """, needs: ["perl"], takesFlags: true),
        test: Command(
            script: """
                \(perlPath)
                [ -n "$(find t -name '*.t' 2>/dev/null | head -n 1)" ] || none 'there is no file t/*.t'
                tap=$PWD/.martlet/test/tap
                rm -rf "$tap"
                if [ -d blib ]; then set -- -b "$@"; else set -- -l "$@"; fi
                # `make test` and `./Build test` do not look into the directories of t, where data may lie that is called like a test.
                files=
                if [ -f Makefile.PL ]; then
                  files=$(sed -n 's/^TEST_FILES = *//p' Makefile | head -n 1)
                elif [ -f Build.PL ] && ! grep -qE 'recursive_test_files|Module::Build::Tiny' Build.PL; then
                  files='t/*.t'
                fi
                if [ -z "$files" ]; then set -- --recurse "$@"; files=t; fi
                # The working directory is a directory of modules, as in `make test`.
                PERL_USE_UNSAFE_INC=1 PERL_TEST_HARNESS_DUMP_TAP="$tap" prove "$@" $files
                status=$?
                # A report's name says what it is.
                find "$tap" -type f ! -name '*.tap' -exec sh -c 'for file; do mv "$file" "$file.tap"; done' sh {} +
                reported $status "$(find "$tap" -name '*.tap' | head -n 1 | grep . || echo .martlet/test/tap)"
                """, needs: ["prove"], takesFlags: true, report: [".martlet/test/tap/**/*.tap"]),
        archive: Command(
            script: """
                [ -f Makefile ] && [ -f Makefile.PL ] || exit 0
                mkdir -p .martlet/products
                make manifest dist || exit
                cp ./*.tar.gz .martlet/products
                """, needs: ["make"]),
        caches: ["PERL_CPANM_HOME": "{cache}/cpanm"],
        packages: ["perl": "perl", "prove": "perl", "make": "make"])

    private static let perlPath = """
        PERL5LIB=$PWD/.martlet/perl/lib/perl5${PERL5LIB:+:$PERL5LIB} PERL_MM_USE_DEFAULT=1
        export PERL5LIB PERL_MM_USE_DEFAULT
        """

    /// Shell programs with bats tests. Their TAP is read from the console, because bats ends before the process that writes its JUnit report (1.8.2).
    static let shell = ProjectProfile(
        title: "shell project", markers: ["*.bats"],
        analyses: [
            Analysis(
                name: "shellcheck",
                command: Command(
                    script: """
                        need shellcheck
                        mkdir -p .martlet/analyze
                        rm -f .martlet/analyze/shellcheck*.json
                        # A name may begin with a dash. xargs starts shellcheck more than once where names are many.
                        { git ls-files -z || find . -name .git -prune -o -type f -print0; } 2>/dev/null | sed -z 's|^|./|' |
                          xargs -0 -r grep -lIZE -m 1 '^#! ?/(usr/bin/env )?(usr/)?(bin/)?(ba|da|k)?sh' |
                          xargs -0 -r sh -c 'number=1
                            while [ -e ".martlet/analyze/shellcheck-$number.json" ]; do number=$((number + 1)); done
                            shellcheck --format json1 "$@" >".martlet/analyze/shellcheck-$number.json"
                            # 1: it has findings.
                            status=$?; [ $status = 1 ] || exit $status' sh
                        status=$?
                        if [ $status != 0 ]; then
                          echo; echo "martlet: no report: shellcheck did not check every file; see the log"; exit $status
                        fi
                        [ -e .martlet/analyze/shellcheck-1.json ] || echo '{"comments": []}' >.martlet/analyze/shellcheck.json
                        """, report: [".martlet/analyze/shellcheck*.json"]))
        ],
        test: Command(
            script: """
                # Not what the tests read, and no copy of bats or of a library for it, which has tests of its own. For bats, a directory has only
                # the files in it, not those of its directories.
                all=$(find test tests spec t -mindepth 1 -type d '(' \(batsLeavesOut) \
                    -o -exec test -e '{}/.git' -o -e '{}/bin/bats' -o -e '{}/load.bash' ';' ')' -prune -printf 'left %p\\n' \
                    -o ! -type d -name '*.bats' -printf 'found %h\\n' 2>/dev/null | LC_ALL=C sort -u)
                found=$(printf '%s\\n' "$all" | sed -n 's/^found //p')
                left=$(printf '%s\\n' "$all" | sed -n 's/^left //p')
                line='
                '
                recursive=
                for flag; do case $flag in --recursive | -r* | -[!-]*r*) recursive=1 ;; esac; done
                IFS=$line
                set -f
                for directory in $left; do
                  [ -z "$(find "$directory" -name '*.bats' | head -n 1)" ] ||
                    echo "left out: $directory: by its name or what is in it, its files for bats are not tests of the project"
                done
                for directory in $found; do
                  parent=$directory
                  while [ -n "$recursive" ] && [ "$parent" != "${parent%/*}" ]; do
                    parent=${parent%/*}
                    case $line$found$line in *"$line$parent$line"*) continue 2 ;; esac
                  done
                  set -- "$@" "$directory"
                done
                set +f
                unset IFS
                for file in *.bats; do if [ -f "$file" ]; then set -- "$@" "$file"; found=1; fi; done
                [ -n "$found" ] || none 'there is no file *.bats'
                exec bats --tap "$@"
                """, needs: ["bats"], takesFlags: true),
        packages: ["bats": "bats", "shellcheck": "shellcheck"])

    /// The directories of tests whose bats files are not the project's own tests, as a condition for `find`.
    private static let batsLeavesOut = ProjectTree.batsLeavesOut.sorted().map { "-name '\($0)'" }.joined(
        separator: " -o ")
}
