extension ProjectProfile {
    /// Python, in a virtual environment of the workspace that also sees the machine's packages, so that those need not be fetched. The project itself
    /// is installed in place with its extras for tests. Building repeats that without a network.
    static let python = ProjectProfile(
        title: "Python project",
        markers: ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pytest.ini"],
        resolve: Command(
            script: """
                python3 -c 'import ensurepip' 2>/dev/null || missing python3-venv
                venv=.martlet/venv stamp=.martlet/resolved
                key() { { python3 --version; pwd
                  cat pyproject.toml setup.py setup.cfg tox.ini ./*requirements*.txt requirements/*.txt ruff.toml; } 2>/dev/null | sha256sum; }
                if [ -x "$venv/bin/python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$(key)" ]; then
                  echo 'unchanged since the dependencies were resolved last'; exit 0
                fi
                rm -rf "$stamp" "$venv"
                python3 -m venv --system-site-packages "$venv" || exit
                pip() { echo "pip install $*"; "$venv/bin/python" -m pip install -q "$@"; }
                for file in requirements.txt *requirements*dev*.txt *requirements*test*.txt dev*requirements.txt test*requirements.txt \
                    requirements/dev.txt requirements/test.txt requirements/tests.txt; do
                  [ ! -f "$file" ] || pip -r "$file" || exit
                done
                wanted=$("$venv/bin/python" - <<'PYTHON'
                \(wanted)
                PYTHON
                ) || exit
                extras=$(echo "$wanted" | sed -n 's/^extras //p')
                for kind in need build; do echo "$wanted" | sed -n "s/^$kind //p" >".martlet/$kind.txt"; done
                [ ! -s .martlet/need.txt ] || pip -r .martlet/need.txt || exit
                # Newest, as in an isolated build: an old setuptools of the machine's own knows no `license = "MIT"` (PEP 639).
                [ ! -s .martlet/build.txt ] || pip --upgrade -r .martlet/build.txt || pip -r .martlet/build.txt || exit
                if [ -n "$(echo "$wanted" | grep '^install')" ]; then pip --use-pep517 --no-build-isolation -e ".$extras" || exit; fi
                "$venv/bin/python" -c 'import pytest' 2>/dev/null || pip pytest || exit
                if [ -f ruff.toml ] || [ -f .ruff.toml ] || grep -qs '^\\[tool\\.ruff' pyproject.toml; then
                  "$venv/bin/python" -m ruff --version >/dev/null 2>&1 || command -v ruff >/dev/null || pip ruff || exit
                fi
                "$venv/bin/python" - .martlet/need.txt .martlet/build.txt <<'PYTHON' || exit
                \(installed)
                PYTHON
                # A linter that cannot be had is no reason not to build; its analysis says that it is not here.
                lint() {
                  tool=$1 line=$2; shift 2
                  for file; do [ ! -f "$file" ] || { linted=1; break; }; done
                  if [ -n "${linted-}" ] || grep -qs "^$line" pyproject.toml; then
                    "$venv/bin/python" -m "$tool" --version >/dev/null 2>&1 || command -v "$tool" >/dev/null || pip "$tool"
                  fi
                  linted=
                }
                lint flake8 '\\[flake8' .flake8
                lint mypy '\\[tool\\.mypy' mypy.ini .mypy.ini
                lint pylint '\\[tool\\.pylint' .pylintrc pylintrc
                key >"$stamp"
                """, needs: ["python3"]),
        analyses: [
            Analysis(
                name: "flake8", markers: [".flake8"], line: "[flake8",
                command: Command(script: "\(linters)need flake8\nexec flake8 --exit-zero --extend-exclude .martlet .\n")
            ),
            Analysis(
                name: "mypy", markers: ["mypy.ini", ".mypy.ini"], line: "[tool.mypy",
                command: Command(
                    script: """
                        \(linters)need mypy
                        # Which files it looks at is the project's setting; without one, all.
                        if grep -qsE '^(files|packages|modules) *=' pyproject.toml mypy.ini .mypy.ini; then set --; else set -- --exclude '^\\.martlet/' .; fi
                        mypy --no-color-output --no-error-summary --cache-dir .martlet/mypy "$@"
                        status=$?
                        [ $status = 1 ] || exit $status
                        """)),
            Analysis(
                name: "pylint", markers: [".pylintrc", "pylintrc"], line: "[tool.pylint",
                command: Command(
                    script:
                        "\(linters)need pylint\nexec pylint --exit-zero --recursive=y --ignore=.martlet --score=n .\n")),
            Analysis(
                name: "ruff", markers: ["ruff.toml", ".ruff.toml"], line: "[tool.ruff",
                command: Command(
                    script: """
                        PATH=$PWD/.martlet/venv/bin:$PATH
                        need ruff
                        mkdir -p .martlet/analyze
                        exec ruff check --exit-zero --output-format sarif --output-file .martlet/analyze/ruff.sarif .
                        """, report: [".martlet/analyze/ruff.sarif"])),
        ],
        build: Command(
            script: """
                if [ ! -f setup.py ] && ! grep -qsE '^\\[(project|build-system)\\]' pyproject.toml; then
                  echo 'nothing to build: neither setup.py nor [project] in pyproject.toml'; exit 0
                fi
                exec .martlet/venv/bin/python -m pip install -q --no-index --no-deps --use-pep517 --no-build-isolation -e .
                """, needs: ["python3"]),
        test: Command(
            script: """
                PATH=$PWD/.martlet/venv/bin:$PATH
                export PATH VIRTUAL_ENV="$PWD/.martlet/venv"
                report=.martlet/test/pytest.xml
                if [ $# = 0 ]; then
                  chosen=$(python - <<'PYTHON'
                \(chosen)
                PYTHON
                  ) || chosen=
                  if [ -n "$chosen" ]; then
                    echo "pytest is called as the project's own tox.ini or noxfile.py has it:" $chosen
                    IFS='
                '
                    set -f; set -- $chosen; set +f
                    unset IFS
                  fi
                fi
                python -m pytest --junit-xml="$report" "$@" ${MARTLET_TESTS:+-k "$MARTLET_TESTS"}
                status=$?
                if [ $status = 5 ]; then rm -f "$report"; none 'pytest found none'; fi
                reported $status "$report"
                """, needs: ["python3"], takesFlags: true, filter: .pytest, report: [".martlet/test/pytest.xml"]),
        archive: Command(
            script: """
                if [ ! -f setup.py ] && ! grep -qsE '^\\[(project|build-system)\\]' pyproject.toml; then exit 0; fi
                exec .martlet/venv/bin/python -m pip wheel -q --no-index --no-deps --use-pep517 --no-build-isolation -w .martlet/products .
                """, needs: ["python3"]),
        caches: ["PIP_CACHE_DIR": "{cache}/pip", "PIP_DISABLE_PIP_VERSION_CHECK": "1"],
        packages: [
            "python3": "python3", "python3-venv": "python3-venv", "ruff": "ruff (pip install ruff)", "flake8": "flake8",
            "mypy": "mypy",
            "pylint": "pylint",
        ])

    /// Puts the programs of the virtual environment first in PATH.
    private static let linters = "PATH=$PWD/.martlet/venv/bin:$PATH\n"

    /// Prints what must be installed according to the project's files. A line `install` stands for the project itself, and `extras` for its extras.
    ///
    /// A line `need` is a requirement of its dependency groups for tests, of Poetry's, or of tox. A line `build` is a requirement of its build.
    private static let wanted = """
        from configparser import ConfigParser
        from os.path import exists
        try:
            from tomllib import load
        except ImportError:
            from pip._vendor.tomli import load
        project = {}
        if exists("pyproject.toml"):
            with open("pyproject.toml", "rb") as file:
                project = load(file)
        names = ["test", "tests", "testing", "dev"]
        setup, tox = (ConfigParser(interpolation=None, strict=False) for _ in range(2))
        setup.read("setup.cfg"), tox.read("tox.ini")
        need, build = [], []
        if exists("setup.py") or "project" in project or "build-system" in project:
            print("install")
            build = project.get("build-system", {}).get("requires", ["setuptools", "wheel"])
            build += ["editables"] if any(line.startswith("hatchling") for line in build) else []
            build += ["wheel"] if any(line.startswith("setuptools") for line in build) else []
        extras = set(project.get("project", {}).get("optional-dependencies", {}))
        if setup.has_section("options.extras_require"):
            extras |= set(setup.options("options.extras_require"))
        if extras & set(names):
            print("extras [" + ",".join(sorted(extras & set(names))) + "]")
        def group(name):
            for item in project.get("dependency-groups", {}).get(name, []):
                if isinstance(item, str):
                    yield item
                else:
                    yield from group(item["include-group"])
        for name in names:
            need += group(name)
        poetry = project.get("tool", {}).get("poetry", {})
        for table in [poetry.get("dev-dependencies", {})] + [poetry.get("group", {}).get(name, {}).get("dependencies", {}) for name in names]:
            need += [name for name in table if name != "python"]
        for line in tox.get("testenv", "deps", fallback="").splitlines():
            line = line.split("#")[0].strip()
            if line and line[0] != "-" and not set(line) & set("{:/"):
                need.append(line)
        for line in need:
            print("need " + line)
        for line in build:
            print("build " + line)
        """

    /// Fails with 1 if a requirement in the files that are its arguments is not installed. Requirements with a condition, such as a platform or a
    /// version of Python, are skipped, because pip is not asked to evaluate them.
    private static let installed = """
        import re, sys
        from importlib.metadata import PackageNotFoundError, version
        missing = []
        for path in sys.argv[1:]:
            for line in open(path):
                name = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", line)
                if not name or ";" in line:
                    continue
                try:
                    version(name[0])
                except PackageNotFoundError:
                    missing.append(name[0])
        try:
            import pytest
        except ImportError:
            missing.append("pytest")
        if missing:
            sys.exit("pip ended with 0, and these are not installed: " + ", ".join(missing))
        """

    /// Prints the arguments for pytest, one a line, if tox, nox or a plain unittest state which tests there are: files, directories, `-k`, `-m` and
    /// `--ignore`.
    ///
    /// Several commands are joined only if one call can replace them; otherwise all tests run. The output is empty if pytest is configured, if a
    /// command runs all tests, or if there is no command.
    ///
    /// Without these arguments pytest collects everything that is named like a test: examples, templates and the tests of other tools.
    private static let chosen = """
        import re, shlex
        from configparser import ConfigParser, Error
        from os.path import basename, exists, isfile
        def text(path):
            try:
                return open(path, encoding="utf-8", errors="replace").read()
            except OSError:
                return ""
        if exists("pytest.ini") or re.search(r"^\\s*testpaths\\s*=", text("pyproject.toml") + "\\n" + text("setup.cfg") + "\\n" + text("tox.ini"), re.M):
            raise SystemExit
        commands = []
        tox = ConfigParser(interpolation=None, strict=False)
        try:
            tox.read_string(text("tox.ini"))
            commands += tox.get("testenv", "commands", fallback="").replace("\\\\\\n", " ").splitlines()
        except Error:
            pass
        for call in re.findall(r"session\\.run\\(([^()]*)\\)", text("noxfile.py")):
            commands.append(" ".join(shlex.quote(word) for word in re.findall(r"[\\x22\\x27]([^\\x22\\x27]*)[\\x22\\x27]", call)))
        def path_of(word):
            return word.split("::")[0]
        # Options of pytest and its plugins whose value is the next word.
        valued = "-c -n -o -p -r -W --basetemp --confcutdir --config-file --cov --cov-config --cov-report --durations --import-mode --junit-xml --junitxml --maxfail --rootdir --tb".split()
        def of_pytest(words):
            options, paths = [], []
            while words:
                word = words.pop(0)
                if word in ("-k", "-m", "--ignore", "--ignore-glob", "--deselect"):
                    options += [word, words.pop(0) if words else ""]
                elif re.match(r"-[km].|--(ignore|ignore-glob|deselect)=", word):
                    options.append(word)
                elif word in valued and words and not words[0].startswith("-"):
                    words.pop(0)
                elif not word.startswith("-") and exists(path_of(word)):
                    paths.append(word)
            return options, paths
        def of_unittest(words):
            names, pattern = [], None
            discovers = not words or words[0].startswith("-") or words[0] == "discover"
            while words:
                word = words.pop(0)
                if word in ("-s", "--start-directory", "-p", "--pattern", "-t", "--top-level-directory", "-k"):
                    value = words.pop(0) if words else "."
                    names += [value] if word in ("-s", "--start-directory") else []
                    pattern = value if word in ("-p", "--pattern") else pattern
                elif not word.startswith("-") and word != "discover":
                    names.append(word)
            if discovers:
                # Without names of the options: the directory, the pattern, the top level.
                names, pattern = names[:1], pattern or "".join(names[1:2])
            paths = []
            for name in names:
                path = next((path for path in (name, name + ".py", name.replace(".", "/"), name.replace(".", "/") + ".py") if path.strip("/") and exists(path)), None)
                paths.append(path or ".")
            return ["--override-ini=python_files=" + (pattern or "test*.py")], paths
        choices = []
        for command in commands:
            command = re.sub(r"\\{posargs:?([^{}]*)\\}", r"\\1", command).replace("{toxinidir}/", "").replace("{toxinidir}", ".")
            try:
                words = shlex.split(command.lstrip("- "))
            except ValueError:
                continue
            runner = next((index for index, word in enumerate(words) if re.search(r"(^|/)(pytest|py\\.test|unittest)$", word)), None)
            if runner is None:
                continue
            options, paths = (of_unittest if words[runner].endswith("unittest") else of_pytest)(words[runner + 1:])
            choice = options, [] if "." in paths else paths
            if choice not in choices:
                choices.append(choice)
        if not choices:
            raise SystemExit
        # Only commands with the same options can be one call. Else that call runs everything, so that it runs no less than they do.
        options, paths = choices[0][0], sorted({path for _, paths in choices for path in paths})
        if any(choice[0] != options for choice in choices):
            patterns = {word.split("=", 2)[2] for choice in choices for word in choice[0] if word.startswith("--override-ini=")}
            options, everything = [], True
        else:
            patterns, everything = set(), any(not choice[1] for choice in choices)
        if everything:
            # Files that are not called like a test are not collected unless a pattern names them.
            files = [basename(path_of(path)) for path in paths if isfile(path_of(path))]
            patterns |= {name for name in files if not re.search(r"^test_.*\\.py$|_test\\.py$", name)}
            options += ["--override-ini=python_files=" + " ".join(["test_*.py", "*_test.py"] + sorted(patterns))] if patterns else []
            paths = []
        for word in options + paths:
            print(word)
        """
}
