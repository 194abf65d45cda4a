"""The Debian package on a new Debian with systemd as PID 1: installed, upgraded while a job runs, removed, installed again, purged, and in the
place of an installation that was made without a package.

Paths beneath /root and /srv are those of the container's tree, made for the run; this machine has none of them.
"""
import re, shutil, time

from acceptance import last, note, not_here, programs, run, since, within
from container import Container, held
from machines import CACHE, archive, archive_options, locked, toolchain, tree

WHAT = "the package on a new machine"
# The name of the tree of a new Debian in the cache, and the packages that are in it.
TREE = ("package", "systemd,systemd-sysv,dbus,procps,ca-certificates")
APT = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-q", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0",
       "-o", "Dpkg::Options::=--force-confold"]
REPOSITORY = """git config --system --add safe.directory '*'
git config --global user.name Ann; git config --global user.email ann@acme.example
git init -q --bare -b main /srv/kit.git
git clone -q /srv/kit.git /srv/work 2>/dev/null; cd /srv/work; git checkout -q -b main
git commit -q --allow-empty -m First; git push -q origin HEAD:main
cat >/etc/martlet/bots/kit.yml <<'BOT'
repository: /srv/kit.git
poll: off
recipe: { configurations: { debug: { build: 'until [ -e go ]; do sleep 0.2; done', test: 'true' } }, analyze: [] }
BOT
for try in $(seq 50); do martlet bot kit >/dev/null 2>&1 && exit; sleep 0.2; done
exit 1
"""
# All paths below are those of the container's own tree, in which root works.
# What deploy/install did before there was a package: copies, with plain man pages, and links of systemctl enable.
COPIES = """rm -rf /tmp/earlier; dpkg-deb -R /root/martlet.deb /tmp/earlier; cd /tmp/earlier
cp -a usr /; cp -a lib/systemd/system/. /usr/lib/systemd/system/
gunzip -f /usr/share/man/man1/martlet*.1.gz; rm -f /usr/share/doc/martlet/copyright /usr/share/doc/martlet/changelog.gz
echo old >/usr/share/man/man1/martlet-silence.1; echo old >/usr/share/doc/martlet/features.md
systemd-sysusers /usr/lib/sysusers.d/martlet.conf; systemd-tmpfiles --create /usr/lib/tmpfiles.d/martlet.conf
sed 's/^listen: 127.0.0.1:8080 /listen: 127.0.0.1:8090 /' etc/martlet/martlet.yml >/etc/martlet/martlet.yml
install -m 755 etc/martlet/triggers/upload-archive /etc/martlet/triggers/upload-archive; echo '# ours' >>/etc/martlet/triggers/upload-archive
mkdir -p /etc/systemd/system/martlet.service.d
printf '[Service]\\nEnvironment=PATH=/usr/local/bin:/usr/bin:/bin\\n' >/etc/systemd/system/martlet.service.d/toolchain.conf
systemctl daemon-reload; systemctl enable --quiet martlet-launcher.socket martlet.service
systemctl start martlet-launcher.socket martlet.service
martlet token create admin --role admin >/dev/null
find /usr /lib/systemd /etc/martlet -name '*martlet*' -not -type d -not -path '*/site-packages/*' -printf '%p\\n' >/root/copies
find /usr/share/doc/martlet /usr/share/martlet /usr/lib/martlet -type f >>/root/copies
"""
# A job waits for this file in its workspace.
GO = "for tree in /var/lib/martlet/workspaces/kit/*/*/*/tree; do touch $tree/go; done"
PACKAGED = "dpkg-query -W -f '${db:Status-Status} ${Package}\\n'"


def changed(package, place, name, field, value):
    """The same package with another value in its control file. The programs in it are the same."""
    directory = place / name
    run("dpkg-deb", "-R", package, directory, check=True)
    control = directory / "DEBIAN/control"
    control.write_text(re.sub(f"(?m)^{field}: .*$", f"{field}: {value}", control.read_text()))
    run("dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "-b", directory, place / f"{name}.deb", check=True)
    shutil.rmtree(directory)


def downloaded(package, root, place):
    """The packages that apt-get install would take from the archive, in the directory `archives`: the container has no network."""
    archives = place / "archives"
    (archives / "partial").mkdir(parents=True)
    (place / "90machine").write_text("".join(line + "\n" for line in archive_options()))
    words = ["systemd-nspawn", "-q", "-D", root, "--register=no", "--keep-unit", "--pipe", f"--bind={archives}:/var/cache/apt/archives",
             f"--bind-ro={package}:/root/martlet.deb", f"--bind-ro={place}/90machine:/etc/apt/apt.conf.d/90machine", "env",
             "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-q", "-o", "APT::Sandbox::User=root"]
    with locked(CACHE):
        done = run(*words, "install", "--download-only", "--no-install-recommends", "/root/martlet.deb")
        if done.returncode:
            run(*words, "update")
            done = run(*words, "install", "--download-only", "--no-install-recommends", "/root/martlet.deb")
        # systemd-nspawn makes the place of a bind.
        for path in ("root/martlet.deb", "etc/apt/apt.conf.d/90machine"):
            (root / path).unlink(missing_ok=True)
    if done.returncode:
        note(*(done.stdout + done.stderr).splitlines()[-5:])
        not_here(WHAT, "the packages that Martlet depends on could not be downloaded")
    return archives


def refused(container):
    done = container("dpkg", "--install", "/srv/debs/foreign.deb")
    said = re.search("package architecture .*", done.stderr)
    held(container, done.returncode and said and not container("test", "-e", "/usr/bin/martlet").returncode == 0,
         "dpkg refuses a package for another architecture in its own words", said and said[0], last(done.stderr))


def installed(container):
    before = set(container("bash", "-c", PACKAGED).stdout.splitlines())
    begun = time.monotonic()
    done = container(*APT, "install", "/root/martlet.deb")
    took, new = since(begun), set(container("bash", "-c", PACKAGED).stdout.splitlines()) - before
    headers = [name for name in new if name.endswith("-dev")]
    held(container, done.returncode == 0 and not headers, "apt-get install ./martlet.deb on a Debian without anything of it",
         f"in {took}; {len(new)} packages, {len(headers)} of *-dev", last(done.stdout + done.stderr, 8))
    active = container.text("systemctl", "is-active", "martlet.service", "martlet-launcher.socket").split()
    enabled = container.text("systemctl", "is-enabled", "martlet.service", "martlet-launcher.socket").split()
    user = container("ps", "-o", "user=", "-p", container.main("martlet")).stdout.strip()
    status = re.search("Status: (.*)", container.text("systemctl", "status", "martlet", "--no-pager"))
    held(container, active == ["active"] * 2 and enabled == ["enabled"] * 2 and user == "martlet",
         "the service runs, and starts at the next boot", f"as user {user}; {status and status[0]}", f"{active} {enabled} '{user}'")
    wanted = ["/etc/martlet/bots root 755", "/etc/martlet/secrets martlet 700", "/var/lib/martlet martlet 710", "/etc/martlet/martlet.yml root 644"]
    modes = container("stat", "-c", "%n %U %a", *(line.split()[0] for line in wanted)).stdout.splitlines()
    held(container, modes == wanted, "its directories have the owners and modes of an installation", "; ".join(modes))
    version, page = container.text("martlet", "--version"), container("zcat", "/usr/share/man/man1/martlet-integrate.1.gz").stdout
    completion = container("bash", "-c", "source /usr/share/bash-completion/completions/martlet && complete -p martlet").stdout.strip()
    held(container, version and ".Nm martlet" in page and completion, "the program, its man page and its completion are there",
         f"{version}; {completion}")


def upgraded(container):
    done = container.bash(REPOSITORY)
    if done.returncode:
        return held(container, False, "a repository with a job", last(done.stderr))
    container("sed", "-i", "s/^# concurrency: 2 /concurrency: 3 /", "/etc/martlet/martlet.yml")
    # Each job waits for its file: the first one is the new bot's own.
    within(60, lambda: '"step":"building"' in container("martlet", "show", "kit#1", "--json").stdout)
    container("bash", "-c", GO)
    container.judged(1)
    number = upgraded_during_a_job(container, "newer", "upgraded while a job runs: daemon and launcher are new ones, the job goes on")
    line = container("grep", "^concurrency", "/etc/martlet/martlet.yml").stdout.split("#")[0].strip()
    held(container, line == "concurrency: 3", "settings that were changed stay", line)
    return number


def upgraded_during_a_job(container, name, what):
    """Installs the package of that name while a job runs. Returns the number of the job's integration."""
    number = container.building("main")
    (before, tick), daemon, launcher = container.supervisor(), container.main("martlet"), container.main("martlet-launcher")
    begun = time.monotonic()
    done = container(*APT, "install", f"/srv/debs/{name}.deb")
    took, (after, same) = since(begun), container.supervisor()
    daemon_after, launcher_after = container.main("martlet"), container.main("martlet-launcher")
    container("bash", "-c", GO)
    view = container.judged(number)
    attempts = {part.get("attempt") for part in view.get("configurations", [])}
    version = container("dpkg-query", "-W", "-f", "${Version}", "martlet").stdout
    held(container, done.returncode == 0 and before and (before, tick) == (after, same) and daemon != daemon_after and launcher != launcher_after
         and attempts == {1} and view.get("result") == "succeeded", what,
         f"to {version} in {took}; supervisor {before} (started at tick {tick}) before and after; kit#{number} {view.get('result')} in attempt 1",
         f"supervisor '{before}' → '{after}', daemon {daemon} → {daemon_after}, launcher {launcher} → {launcher_after}, {attempts}, "
         f"{view.get('result')}; {last(done.stdout + done.stderr, 5)}")
    return number


def canceled(container):
    """The daemon's unit hides supervisors in /proc (ProtectProc=invisible)."""
    number, begun = container.building("main"), time.monotonic()
    container("martlet", "cancel", f"kit#{number}")
    view = container.judged(number)
    took, pid = since(begun), container.supervisor()[0]
    held(container, view.get("result") == "canceled" and not pid, "a job is canceled, although /proc hides its supervisor from the daemon",
         f"kit#{number} {view.get('result')} after {took}, no supervisor left", f"{view.get('result')}, supervisor '{pid}'")


def removed(container, number):
    running = container.building("main")
    begun = time.monotonic()
    done = container("dpkg", "--remove", "martlet")
    took = since(begun)
    left = container("bash", "-c", "ls -d /usr/bin/martlet /usr/lib/martlet /usr/share/martlet /usr/share/doc/martlet /lib/systemd/system/martlet* "
                     "/run/martlet /run/martlet-launcher 2>/dev/null; pgrep -u martlet -a").stdout.strip()
    kept = container("bash", "-c", "ls -d /etc/martlet/martlet.yml /etc/martlet/bots/kit.yml /var/lib/martlet/martlet.sqlite").stdout.split()
    held(container, done.returncode == 0 and not left and len(kept) == 3,
         "removed while a job runs: programs, units and processes go, settings and state stay", f"in {took}; kept: {' '.join(kept)}", f"left '{left}', kept {kept}; {last(done.stdout + done.stderr, 3)}")
    begun = time.monotonic()
    done = container(*APT, "install", "/srv/debs/newer.deb")
    result = within(20, lambda: container.show(number).get("result"))
    if result and within(60, lambda: container.supervisor()[0]):
        within(60, lambda: container("bash", "-c", GO).returncode == 0)
    again = container.judged(running) if result else {}
    held(container, done.returncode == 0 and result == "succeeded" and again.get("state") == "completed", "installed again: the state is as it was",
         f"kit#{number} {result}; kit#{running}, whose job the removal ended: {again.get('result')}, {since(begun)} later",
         last(done.stdout + done.stderr, 5))


def purged(container):
    done = container("dpkg", "--purge", "martlet")
    left = container("bash", "-c", "ls -d /etc/martlet /var/lib/martlet /run/martlet /etc/systemd/system/*/martlet* "
                     "/var/lib/systemd/deb-systemd-helper-enabled/*martlet* 2>/dev/null; pgrep -u martlet -a; dpkg-query -W martlet 2>/dev/null").stdout.strip()
    user = container("getent", "passwd", "martlet").stdout.strip()
    held(container, done.returncode == 0 and not left and user, "purged: settings and state go, the user stays", user,
         f"left '{left}'; {last(done.stderr)}")


def taken_over(container):
    done = container.bash(COPIES)
    daemon = container.main("martlet")
    if not held(container, done.returncode == 0 and daemon not in ("", "0"),
                "an installation of copies, as deploy/install made it before the package", f"daemon {daemon}, port 8090, one token", last(done.stderr, 5)):
        return
    done = container(*APT, "install", "/root/martlet.deb")
    # The real path: /lib is a link to /usr/lib.
    owned = set(container("bash", "-c", "dpkg -L martlet | xargs realpath").stdout.split("\n"))
    copies = container("bash", "-c", "sort -u /root/copies | while read -r f; do [ ! -e $f ] || realpath $f; done").stdout.split()
    strangers = sorted(path for path in set(copies) - owned if not path.startswith("/etc/martlet/bots"))
    after, port = container.main("martlet"), container("grep", "^listen", "/etc/martlet/martlet.yml").stdout.split("#")[0].strip()
    tokens = container.text("martlet", "token", "list")
    ours = container("tail", "-n", "1", "/etc/martlet/triggers/upload-archive").stdout.strip()
    stays = port.endswith(":8090") and "admin" in tokens and ours == "# ours"
    held(container, done.returncode == 0 and not strangers and after not in ("", "0", daemon) and stays,
         "the package takes it over: each file is dpkg's, settings, triggers and state stay, the new daemon runs",
         f"{len(set(copies))} files; {port}; {len(tokens.splitlines())} lines of tokens; daemon {daemon} → {after}",
         f"not dpkg's: {strangers[:8]}; {port}; '{tokens}'; '{ours}'; {daemon} → {after}; {last(done.stdout + done.stderr, 5)}")
    enabled = container.text("systemctl", "is-enabled", "martlet.service", "martlet-launcher.socket").split()
    dropin = container("systemctl", "show", "martlet", "--property=Environment").stdout.strip()
    held(container, enabled == ["enabled"] * 2 and "PATH=/usr/local/bin" in dropin, "it is enabled, and toolchain.conf applies",
         f"{' '.join(enabled)}; {dropin}")


def swift_of_programs():
    """The toolchain whose libraries the programs load; None where they need none."""
    return toolchain() if "libswiftCore" in run("ldd", programs() / "martlet").stdout else None


def debs(package, place, *names):
    """A directory with further packages: newer ones of these names, one for another architecture, `foreign`."""
    directory = place / "debs"
    directory.mkdir()
    version = run("dpkg-deb", "-f", package, "Version").stdout.strip()
    for number, name in enumerate(names):
        changed(package, directory, name, "Version", f"{version}+next{number or ''}")
    ours = run("dpkg-deb", "-f", package, "Architecture").stdout.strip()
    changed(package, directory, "foreign", "Architecture", "arm64" if ours == "amd64" else "amd64")
    return directory


def machine(package, place):
    root = tree(WHAT, *TREE, archive())
    others, archives = debs(package, place, "newer"), downloaded(package, root, place)
    swift = swift_of_programs()
    container = Container(WHAT, place, root, swift, {others: "/srv/debs", archives: "/srv/archives", package: "/root/martlet.deb"})
    note(f"the container sees {swift or 'no Swift toolchain'}")
    container.bash("cp /srv/archives/*.deb /var/cache/apt/archives/")
    refused(container)
    installed(container)
    number = upgraded(container)
    canceled(container)
    removed(container, number)
    purged(container)
    taken_over(container)
    purged(container)
    container.stop()
