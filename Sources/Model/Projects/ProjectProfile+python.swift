extension ProjectProfile {
    /// Python, in a virtual environment of the workspace that sees the machine's own packages: what those have need not be fetched.
    /// The project itself is installed in place with its extras for tests; building does that again without a network.
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
                echo "$wanted" | sed -n 's/^need //p' >.martlet/wanted.txt
                [ ! -s .martlet/wanted.txt ] || pip -r .martlet/wanted.txt || exit
                if [ -n "$(echo "$wanted" | grep '^install')" ]; then pip --no-build-isolation -e ".$extras" || exit; fi
                "$venv/bin/python" -c 'import pytest' 2>/dev/null || pip pytest || exit
                if [ -f ruff.toml ] || [ -f .ruff.toml ] || grep -qs '^\\[tool\\.ruff' pyproject.toml; then
                  "$venv/bin/python" -m ruff --version >/dev/null 2>&1 || command -v ruff >/dev/null || pip ruff || exit
                fi
                key >"$stamp"
                """, needs: ["python3"]),
        analyses: [
            Analysis(
                name: "ruff", markers: ["ruff.toml", ".ruff.toml"], line: "[tool.ruff",
                command: Command(
                    script: """
                        PATH=$PWD/.martlet/venv/bin:$PATH
                        need ruff
                        mkdir -p .martlet/analyze
                        exec ruff check --exit-zero --output-format sarif --output-file .martlet/analyze/ruff.sarif .
                        """, report: [".martlet/analyze/ruff.sarif"]))
        ],
        build: Command(
            script: """
                if [ ! -f setup.py ] && ! grep -qsE '^\\[(project|build-system)\\]' pyproject.toml; then
                  echo 'nothing to build: neither setup.py nor [project] in pyproject.toml'; exit 0
                fi
                exec .martlet/venv/bin/python -m pip install -q --no-index --no-deps --no-build-isolation -e .
                """, needs: ["python3"]),
        test: Command(
            script: """
                PATH=$PWD/.martlet/venv/bin:$PATH
                export PATH VIRTUAL_ENV="$PWD/.martlet/venv"
                python -m pytest --junit-xml=.martlet/test/pytest.xml "$@"
                status=$?
                if [ $status = 5 ]; then rm -f .martlet/test/pytest.xml; none 'pytest found none'; fi
                exit $status
                """, needs: ["python3"], takesFlags: true, report: [".martlet/test/pytest.xml"]),
        archive: Command(
            script: """
                if [ ! -f setup.py ] && ! grep -qsE '^\\[(project|build-system)\\]' pyproject.toml; then exit 0; fi
                exec .martlet/venv/bin/python -m pip wheel -q --no-index --no-deps --no-build-isolation -w .martlet/products .
                """, needs: ["python3"]),
        caches: ["PIP_CACHE_DIR": "{cache}/pip", "PIP_DISABLE_PIP_VERSION_CHECK": "1"],
        packages: ["python3": "python3", "python3-venv": "python3-venv", "ruff": "ruff (pip install ruff)"])

    /// Prints what of the project's own files has to be installed: `install` for the project itself, its `extras`, and a line
    /// `need` for each requirement of its build, of its dependency groups for tests, of Poetry's, and of tox.
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
        need = []
        if exists("setup.py") or "project" in project or "build-system" in project:
            print("install")
            need += project.get("build-system", {}).get("requires", ["setuptools", "wheel"])
            need += ["editables"] if any(line.startswith("hatchling") for line in need) else []
            need += ["wheel"] if any(line.startswith("setuptools") for line in need) else []
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
        """
}
