"""Root trees of a new Debian, kept in a cache, and their packages. Programs that need one end with 0 where it cannot be had."""
import contextlib, fcntl, os, pathlib, re, shutil

from acceptance import not_here, read, run

CACHE = pathlib.Path(os.environ.get("MARTLET_ACCEPTANCE_CACHE") or "/var/tmp/martlet-acceptance")


def toolchain():
    """The directory of the Swift toolchain, which is `usr`'s; None without one."""
    program = shutil.which("swift")
    return program and os.path.realpath(program).rpartition("/usr/bin/")[0]


def install(what, *packages):
    """Installs Debian packages that are missing."""
    for package in packages:
        status = run("dpkg-query", "-W", "-f", "${db:Status-Status}", package).stdout
        if status != "installed" and run("apt-get", "install", "-y", "-q", "--no-install-recommends", package,
                                         env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}).returncode:
            not_here(what, f"{package} is missing and could not be installed")


def archive():
    """The archive that this machine takes its packages from, if it is a Debian 12."""
    targets = run("apt-get", "indextargets", "--format", "$(ORIGIN) $(CODENAME) $(REPO_URI)").stdout
    return (re.search("^Debian bookworm (.*)$", targets, re.M) or ["", "http://deb.debian.org/debian"])[1]


def archive_options():
    """How this machine reaches the archive, as lines of apt.conf(5): a proxy, how it takes old snapshots."""
    return [line for line in run("apt-config", "dump").stdout.splitlines() if line.startswith(("Acquire::http", "Acquire::Check"))]


@contextlib.contextmanager
def locked(directory):
    """A directory of the cache, used by one program at a time."""
    directory.mkdir(parents=True, exist_ok=True)
    with open(directory / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield directory


def tree(what, name, packages, archive="http://deb.debian.org/debian"):
    """A Debian 12 with further packages. It is made again if the list of packages has changed."""
    with locked(CACHE) as cache:
        directory, part, listed = cache / name, cache / f"{name}.part", cache / f"{name}.packages"
        if not (directory / "usr/bin/apt-get").exists() or read(listed) != packages:
            run("rm", "-rf", "--one-file-system", directory, part)
            done = run("debootstrap", "--variant=minbase", f"--include={packages}", "bookworm", part, archive)
            (cache / f"{name}.log").write_text(done.stdout + done.stderr)
            if done.returncode:
                run("rm", "-rf", "--one-file-system", part)
                not_here(what, f"debootstrap failed; see {cache}/{name}.log")
            part.rename(directory)
            listed.write_text(packages)
        return directory
