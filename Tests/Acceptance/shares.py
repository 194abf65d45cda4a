#!/usr/bin/env python3
"""Compares one computation by hand with the same one as a job, on the idle machine and beside one busy process on each processor.

    Tests/Acceptance/shares.py [SECONDS]      SECONDS: of the computation on the idle machine, 10 by default

The computation keeps each processor busy, as a build does. A job is expected to take at most 3 times as long beside the busy processes as by
hand on the idle machine: by their weights it takes 9/4 of it (decision 0056), and a computation by hand takes twice. Run it on a machine without
other work; it takes about ten times SECONDS.
"""
import json, os, subprocess, sys, time

from acceptance import Daemon, Place, Repository, claim, finish

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
PROCESSORS = len(os.sched_getaffinity(0))
# Counts in as many processes as there are processors; the time of each is that of the slowest.
WORK = """
import multiprocessing, sys
def count(rounds):
    total = 0
    for number in range(rounds):
        total += number * number % 7
    return total
if __name__ == "__main__":
    processes = [multiprocessing.Process(target=count, args=(int(sys.argv[1]),)) for _ in range(int(sys.argv[2]))]
    for process in processes: process.start()
    for process in processes: process.join()
"""


def by_hand(work, rounds):
    begun = time.monotonic()
    subprocess.run([sys.executable, str(work), str(rounds), str(PROCESSORS)], check=True)
    return time.monotonic() - begun


def as_job(daemon, repository, text):
    """The seconds of the job's own step, so that checkout and processing do not count."""
    commit = repository.commit({"round": text})
    daemon.push("kit", f"shares-{text}", "0" * 40, commit)
    record = daemon.completed("kit", commit, limit=SECONDS * 40 + 60)
    if not record:
        raise SystemExit("the job did not end; see MARTLET_KEEP=1")
    whole = daemon.get(f"/api/v1/bots/kit/integrations/{record['number']}")
    steps = whole["configurations"][0]["steps"]
    return next(step for step in steps if step["name"] == "build")["duration"]


def busy():
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True) for _ in range(PROCESSORS)]


def main():
    with Place() as place:
        work = place / "work.py"
        work.write_text(WORK)
        rounds = 2_000_000
        rounds = int(rounds * SECONDS / max(by_hand(work, rounds), 0.05))
        repository = Repository(place, "kit")
        recipe = json.dumps(f"python3 work.py {rounds} {PROCESSORS}")
        repository.commit({"work.py": WORK})
        daemon = Daemon(place)
        daemon.bot("kit", repository, f"recipe: {{ configurations: {{ debug: {{ build: {recipe}, test: 'true' }} }}, analyze: [] }}\n")
        if daemon.start() is None:
            raise SystemExit("the daemon does not answer; see MARTLET_KEEP=1")
        try:
            daemon.completed("kit", repository.git("rev-parse", "HEAD"), limit=SECONDS * 40 + 60)
            alone = by_hand(work, rounds)
            job_alone = as_job(daemon, repository, "alone")
            others = busy()
            try:
                beside = by_hand(work, rounds)
                job_beside = as_job(daemon, repository, "beside")
            finally:
                for process in others:
                    process.kill()
                    process.wait()
        finally:
            daemon.stop()
        print(f"{PROCESSORS} processors; seconds: by hand {alone:.1f}, as a job {job_alone:.1f}; beside as many busy processes: "
              f"by hand {beside:.1f}, as a job {job_beside:.1f}")
        claim(job_alone < alone * 1.25, "a job has the idle machine in full", f"{job_alone / alone:.2f} times by hand")
        claim(job_beside < alone * 3, "a job has a fair part beside one busy process on each processor",
              f"{job_beside / alone:.2f} times by hand on the idle machine")
    finish()


main()
