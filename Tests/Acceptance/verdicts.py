#!/usr/bin/env python3
"""Shows that `martlet run` gives the right verdict without a recipe, a line a claim with its figure.

    Tests/Acceptance/verdicts.py [PART…] [--only NAME…] [--mirrors DIRECTORY] [--reproduce PROGRAM]

kinds         each sample project of Tests/Acceptance/kinds: green as it is, red with its failing files, with its number of tests
recipes       each sample project of Tests/Acceptance/recipes, which needs a recipe: Martlet's own message says which, and with that recipe it
              is green as it is, and red with its failing files
repositories  each row of Tests/Acceptance/repositories.txt, run twice, against the verdict that its own commands gave by hand
reproduce     the collected wrong verdicts, by a program that prints a line `WRONG …` for each and is named by --reproduce or
              MARTLET_REPRODUCE

Without a part all of them run. --mirrors names a directory with copies of the repositories (OWNER+NAME/repo, OWNER/NAME.git or NAME);
others are cloned from GitHub. What needs a program or file that is not here is skipped by name. Foreign code runs in Martlet's sandbox, and
the commands by hand, with which the second run's time is compared, in bubblewrap; without `bwrap` that comparison is skipped.
"""
import argparse, json, os, pathlib, re, shutil, subprocess, sys

from acceptance import GIT, Place, claim, finish, programs, skip
from verdict_runner import Runner

HERE = pathlib.Path(__file__).resolve().parent
# What one second run may take, as a multiple of the same commands by hand.
TARGET = 1.2


# ------------------------------------------------------------------------------------------------------------ kinds

class Sample:
    """A small project: what it is in its first line, then `key: value`, then files, each after a line `--- [failing] [executable] PATH`."""

    def __init__(self, path):
        self.name, self.files, self.failing, fields, content = path.stem, {}, {}, {}, None
        for line in path.read_text().splitlines(keepends=True):
            if line.startswith("--- "):
                *words, name = line[4:].split()
                content = [[], "executable" in words]
                (self.failing if "failing" in words else self.files)[name] = content
            elif content:
                content[0].append(line)
            elif ": " in line:
                key, value = line.strip().split(": ", 1)
                fields[key] = value
        self.kind, self.needs = fields["kind"], fields["needs"].split()
        # What a recipe has in place of `COMMAND`.
        self.commands = fields["commands"].split(", ") if "commands" in fields else []
        # None: its tool tells of no tests, so that its exit status alone counts.
        self.tests = int(fields["tests"]) if "tests" in fields else None

    def write(self, tree, failing):
        for name, (lines, executable) in {**self.files, **(self.failing if failing else {})}.items():
            path = tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(lines))
            path.chmod(0o755 if executable else 0o644)
        if not (tree / ".git").exists():
            subprocess.run(["git", "init", "-q", "-b", "main"], cwd=tree, env={**os.environ, **GIT}, check=True)
        for arguments in (["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "Change"]):
            subprocess.run(["git", *arguments], cwd=tree, env={**os.environ, **GIT}, check=True)


def kinds(runner, only, _):
    for path in sorted((HERE / "kinds").glob("*.txt")):
        sample = Sample(path)
        if only and sample.name not in only:
            continue
        if missing := runner.missing(sample.needs):
            skip(f"kinds: {sample.name}", f"{missing} is not here")
            continue
        tree = runner.place / "kinds" / sample.name
        tree.mkdir(parents=True)
        for failing in (False, True):
            sample.write(tree, failing)
            answer, took, words = runner.run(tree)
            color = "red" if failing else "green"
            if answer is None:
                claim(False, f"kinds: {sample.name} is {color}", words)
                continue
            counted = answer.by_status if sample.tests is None else answer.counted == sample.tests
            rightly = answer.color == color and counted and (not failing or sample.tests is None or answer.failures == 1)
            claim(rightly, f"kinds: {sample.name} is {color}", f"{answer}, {took:.0f} s" + ("" if rightly else f"; {answer.reason[:160]}"))


# ---------------------------------------------------------------------------------------------------------- recipes

def recipe(sample, answer):
    """The file and the recipe that the answer's message says to write: `printed` in it as they are, the `own` command of the project's CI for
    its `test:`, or `none` for nothing to test. None where the message has no such words."""
    if sample.kind == "printed":
        found = re.search(r"(?:try|add) a (\S+) with `([^`]+)`", answer.reason)
        if not found:
            return None
        text = found[2]
        for command in sample.commands:
            text = text.replace("COMMAND", json.dumps(command), 1)
        return found[1], text + "\n"
    found = re.search(r"the project's own CI runs `([^`]+)`.*write `test:`" if sample.kind == "own" else r"or `test: (none)`", answer.reason)
    return found and (".martlet.yml", f"configurations: {{ debug: {{ test: {json.dumps(found[1])} }} }}\n")


def recipes(runner, only, _):
    for path in sorted((HERE / "recipes").glob("*.txt")):
        sample = Sample(path)
        if only and sample.name not in only:
            continue
        if missing := runner.missing(sample.needs):
            skip(f"recipes: {sample.name}", f"{missing} is not here")
            continue
        tree = runner.place / "recipes" / sample.name
        tree.mkdir(parents=True)
        sample.write(tree, False)
        answer, _, words = runner.run(tree)
        written = answer and recipe(sample, answer)
        if not claim(bool(written), f"recipes: {sample.name} is told a recipe", written[1].strip() if written else words or f"{answer}; {answer.reason[:200]}"):
            continue
        (tree / written[0]).write_text(written[1])
        for failing in (False, True):
            sample.write(tree, failing)
            answer, took, words = runner.run(tree)
            color = "red" if failing else "green"
            if answer is None:
                claim(False, f"recipes: {sample.name} with it is {color}", words)
                continue
            counted = answer.by_status if sample.tests is None else answer.counted == (0 if failing and answer.verdict == "build-errors" else sample.tests)
            # Nothing is left to be said where the recipe says that there is nothing to test.
            settled = sample.kind != "none" or failing or answer.verdict == "succeeded"
            rightly = answer.color == color and counted and settled
            claim(rightly, f"recipes: {sample.name} with it is {color}", f"{answer}, {took:.0f} s" + ("" if rightly else f"; {answer.reason[:160]}"))


# ----------------------------------------------------------------------------------------------------- repositories

class Foreign:
    """A row: owner/name, commit, kind, what is needed, `green`, `red` or `told`, and at least how many tests. After a colon come for `told`
    the words that the message has, else the commands by hand."""

    def __init__(self, line):
        row, _, self.rest = line.partition(" : ")
        self.name, self.commit, self.kind, needs, self.expected, tests = row.split()
        self.needs, self.tests, self.rest = needs.split(","), int(tests), self.rest.strip()

    def clone(self, tree, mirrors):
        """Returns why it cannot be had; None where it is there."""
        owner, name = self.name.split("/")
        places = [mirrors / f"{owner}+{name}" / "repo", mirrors / owner / f"{name}.git", mirrors / owner / name, mirrors / f"{name}.git",
                  mirrors / name] if mirrors else []
        address = next((str(place) for place in places if place.is_dir()), f"https://github.com/{self.name}")
        # A mirror may have another owner.
        settings = ["-c", "safe.directory=*", "-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false"]
        for arguments in (["clone", "-q", "--no-checkout", address, str(tree)], ["-C", str(tree), "checkout", "-q", self.commit]):
            result = subprocess.run(["git", *settings, *arguments], env={**os.environ, **GIT, "GIT_TERMINAL_PROMPT": "0"},
                                    stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if result.returncode:
                return (result.stderr.strip().splitlines() or ["git failed"])[-1][:120]
        return None


def repositories(runner, only, mirrors):
    lines = [line for line in (HERE / "repositories.txt").read_text().splitlines() if line and not line.startswith("#")]
    counts = {"right": 0, "wrong green": 0, "wrong red": 0, "other": 0}
    compared, ratios, every = set(), [], 0
    for repository in map(Foreign, lines):
        if only and repository.name not in only and repository.name.split("/")[1] not in only:
            continue
        what = f"{repository.name} ({repository.kind})"
        if missing := runner.missing(need for need in repository.needs if need != "-"):
            skip(what, f"{missing} is not here")
            continue
        tree = runner.place / "trees" / repository.name
        if problem := repository.clone(tree, mirrors):
            skip(what, f"cannot be cloned: {problem}")
            continue
        every += 1
        answer, first, words = runner.run(tree)
        again, second, words_again = runner.run(tree)
        if answer is None or again is None:
            counts["other"] += 1
            claim(False, what, words or words_again)
            continue
        if repository.expected == "told":
            right = all(repository.rest in a.reason and not a.counted for a in (answer, again))
        else:
            right = all(a.color == repository.expected and a.counted >= repository.tests for a in (answer, again))
        wrong = next((a.color for a in (answer, again) if repository.expected != "told" and a.color != repository.expected), None)
        counts["right" if right else {"green": "wrong green", "red": "wrong red"}.get(wrong, "other")] += 1
        expected = f"; by hand {repository.expected}, {repository.tests} tests; {answer.reason[:160]}"
        claim(right, what, f"{answer}, {first:.0f} s, again {second:.0f} s" + ("" if right else expected))
        if repository.expected == "green" and right and repository.rest and repository.kind not in compared:
            compared.add(repository.kind)
            if not shutil.which("bwrap"):
                skip(f"{what}: time beside the commands by hand", "bwrap is not here")
            elif (hand := runner.by_hand(tree, repository.rest)) is None:
                skip(f"{what}: time beside the commands by hand", "they fail in bubblewrap")
            else:
                ratios.append(second / hand)
                claim(second / hand <= TARGET, f"{what}: the second run takes at most {TARGET} times the commands by hand",
                      f"{second:.1f} s beside {hand:.1f} s, {second / hand:.2f} times")
        shutil.rmtree(tree, ignore_errors=True)
    print(f"{every} repositories: {counts['right']} right verdicts, {counts['wrong green']} wrong green, {counts['wrong red']} wrong red, "
          f"{counts['other']} other differences")
    if ratios:
        print(f"second run beside the commands by hand: {len(ratios)} kinds, median {sorted(ratios)[len(ratios) // 2]:.2f}, worst {max(ratios):.2f}")


# -------------------------------------------------------------------------------------------------------- reproduce

def reproduce(runner, only, _):
    program = runner.reproduce
    if not program or not os.path.exists(program):
        return skip("reproduce: no collected verdict is wrong", f"{program or 'no program'} is not here")
    result = subprocess.run([sys.executable, str(program), *only], env={**os.environ, "MARTLET": str(programs() / "martlet")},
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    lines = [line for line in result.stdout.splitlines() if line.startswith(("WRONG", "right"))]
    wrong = [line for line in lines if line.startswith("WRONG")]
    for line in wrong:
        print(f"{'':8} {line[:200]}")
    claim(result.returncode == 0 and not wrong, "reproduce: no collected verdict is wrong", f"{len(lines)} verdicts, {len(wrong)} wrong, exit status {result.returncode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {part.__name__: part for part in (kinds, recipes, repositories, reproduce)}
    parser.add_argument("parts", nargs="*", metavar="PART", help="kinds, recipes, repositories, reproduce; default: all")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these samples, repositories or cases")
    parser.add_argument("--mirrors", type=pathlib.Path, help="a directory with copies of the repositories")
    parser.add_argument("--reproduce", default=os.environ.get("MARTLET_REPRODUCE"), help="the program of the collected verdicts")
    options = parser.parse_args()
    if unknown := [part for part in options.parts if part not in parts]:
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(parts)}")
    with Place() as place:
        runner = Runner(place)
        runner.reproduce = options.reproduce
        for part in options.parts or parts:
            parts[part](runner, options.only, options.mirrors)
    finish()


main()
