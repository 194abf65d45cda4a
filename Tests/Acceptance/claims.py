"""A line for each claim with its figure, `ok | FAILED | skipped   claim   figure`, and parts of a program, each beneath its heading."""
import pathlib, sys, time

counts = {"ok": 0, "FAILED": 0, "skipped": 0}


def claim(holds, what, figure=""):
    """Prints a claim with its figure, and counts it. Returns whether it holds."""
    word = "ok" if holds else "FAILED"
    counts[word] += 1
    print(f"{word:8} {what:<86} {figure}".rstrip(), flush=True)
    return bool(holds)


def skip(what, reason):
    counts["skipped"] += 1
    print(f"{'skipped':8} {what:<86} {reason}".rstrip(), flush=True)


def note(*lines):
    """Prints what belongs to the claim before or after it."""
    for line in lines:
        print(f"{'':8} {line}", flush=True)


def finish():
    """Prints how many claims hold, and ends with 1 where one does not."""
    print(f"{counts['ok']} passed, {counts['FAILED']} failed, {counts['skipped']} skipped", flush=True)
    sys.exit(1 if counts["FAILED"] or not counts["ok"] else 0)


def missing(reason):
    """Ends with 69: something that the program needs is not there."""
    print(f"{pathlib.Path(sys.argv[0]).name}: {reason}", file=sys.stderr)
    sys.exit(69)


def not_here(what, reason):
    """Ends with 0: this machine cannot show the claims of the program."""
    skip(what, reason)
    sys.exit(0)


def usage():
    """Prints the program's description and ends with 64."""
    print(sys.modules["__main__"].__doc__.strip(), file=sys.stderr)
    sys.exit(64)


def run_parts(parts, wanted, about=""):
    """Runs the named functions of `parts`, each beneath its heading. A part that ends with an error is a claim that fails."""
    if any(name not in parts for name in wanted):
        usage()
    print(f"{pathlib.Path(sys.argv[0]).name}: {' '.join(wanted)}; {about}{'; ' if about else ''}{time.strftime('%FT%TZ', time.gmtime())}", flush=True)
    for name in wanted:
        begun = time.monotonic()
        print(f"== {name}", flush=True)
        try:
            parts[name]()
        except Exception as error:  # The other parts are shown all the same.
            claim(False, f"{name} comes to its end", f"{type(error).__name__}: {error}")
        note(f"({name}: {time.monotonic() - begun:.1f} s)")
