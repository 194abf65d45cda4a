"""The package through upgrades, and a backup: a part of Tests/Acceptance/operate."""
import time

from acceptance import last, since, within
from container import held
from operate_machine import OUTSIDE
from package_machine import GO, REPOSITORY, installed, refused, upgraded_during_a_job


def package_life(world):
    machine = world.machine()
    refused(machine)
    installed(machine)
    done = machine.bash(REPOSITORY)
    if done.returncode:
        raise RuntimeError(f"the repository could not be made: {last(done.stderr)}")
    # Each job waits for its file: the first one is the new bot's own.
    within(60, lambda: '"step":"building"' in machine("martlet", "show", "kit#1", "--json").stdout)
    machine("bash", "-c", GO)
    machine.judged(1)
    for name in ("newer", "newest"):
        upgraded_during_a_job(machine, name, f"upgraded to a {name} version while a job runs: its supervisor goes on, and the job succeeds")
    backed_up(machine)
    machine.stop()


def backed_up(machine):
    """Makes a backup while a job runs, and verifies it, then without the service."""
    number = machine.building("main")
    supervisor, directory = machine.supervisor(), f"{OUTSIDE}/backup/package"
    begun = time.monotonic()
    done = machine("martlet", "backup", directory)
    took, same = since(begun), machine.supervisor() == supervisor
    machine("bash", "-c", GO)
    result = machine.judged(number).get("result")
    held(machine, done.returncode == 0 and same and result == "succeeded", "martlet backup while a job runs",
         f"in {took}; {done.stdout.strip()}; kit#{number} {result}",
         f"{last(done.stdout + done.stderr)}; supervisor stays: {same}; {result}")
    begun = time.monotonic()
    done = machine("martlet", "backup", directory, "--verify")
    held(machine, done.returncode == 0, "martlet backup --verify", f"in {since(begun)}; {done.stdout.strip()}", last(done.stderr))
    sums = machine("bash", "-c", f"cd {directory} && sha256sum --quiet -c SHA256SUMS && wc -l <SHA256SUMS")
    held(machine, sums.returncode == 0, "sha256sum -c agrees", f"{sums.stdout.strip()} files", last(sums.stdout + sums.stderr))
