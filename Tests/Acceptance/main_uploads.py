"""Claims of Tests/Acceptance/main-job: uploads arrive at a real OpenSSH and a real nginx."""
import hashlib, pathlib, shutil, time

from acceptance import ROOT, claim, note, since, skip
from main_world import world
from servers import PASSWORD, USER, Nginx, NotHere, Sshd, password_file

WEBDAV = """server {
    listen 127.0.0.1:@PORT@; root @DIRECTORY@/files; client_max_body_size 0;
    location / { dav_methods PUT DELETE MKCOL COPY MOVE; create_full_put_path on; auth_basic up; auth_basic_user_file @DIRECTORY@/htpasswd; }
  }"""
MAKEFILE = """all:
	mkdir -p products
	head -c 3000000 /dev/urandom >products/data.bin
	printf "%s\\n" "$(MARTLET_COMMIT)" >products/commit.txt
check:
	test -s products/data.bin
"""


def start(name, server, *arguments):
    """The started server; None where it cannot be, which is skipped."""
    try:
        return server(*arguments)
    except NotHere as reason:
        skip(f"uploads to a real {name}", reason)


def webdav(directory):
    (directory / "files").mkdir(parents=True)
    password_file(directory / "htpasswd")
    return Nginx(directory, WEBDAV)


def digests(directory):
    """By name, without what says something of the others."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in pathlib.Path(directory).rglob("*")
            if path.is_file() and path.name not in ("manifest.json", "SHA256SUMS")}


def triggers(sshd, nginx, served):
    lines = ['insecure: true', 'branches: [main, "release/*"]', 'triggers:',
             '  - { name: publish, branches: ["release/*"], publish: { version: branch } }']
    if sshd:
        shutil.copy(ROOT / "deploy/triggers/upload-archive", world.place / "triggers")
        for name, text in {"office-sftp": sshd.key, "office-sftp-known-hosts": sshd.known_host, "upload-key": sshd.key,
                           "upload-host": sshd.known_host, "upload-target": f"{USER}@127.0.0.1:{sshd.port}:{served}/script\n"}.items():
            world.secret(name, text)
        lines += [f'  - {{ name: sftp, branches: ["release/*"], upload: "sftp://{USER}@127.0.0.1:{sshd.port}{served}/sftp/{{product}}/{{version}}/", '
                  'credentials: office-sftp }',
                  '  - { name: script, branches: ["release/*"], run: upload-archive, secrets: [upload-target, upload-key, upload-host] }']
    if nginx:
        world.secret("office-dav", f"ci:{PASSWORD}\n")
        lines.append(f'  - {{ name: dav, branches: ["release/*"], upload: "http://127.0.0.1:{nginx.port}/{{product}}/{{version}}/", '
                     'credentials: office-dav }')
    return "\n".join(lines) + "\n"


def uploads():
    daemon, place = world.daemon, world.place
    served = place / "served"
    served.mkdir()
    sshd, nginx = start("OpenSSH", Sshd, place / "ssh"), start("nginx", webdav, place / "nginx")
    if not sshd and not nginx:
        return
    parcel = world.repository("parcel")
    parcel.commit({"Makefile": MAKEFILE, ".gitignore": "products/\n",
                   ".martlet.yml": 'configurations:\n  debug:\narchive: { include: ["products/**"] }\n'}, branch=None, subject="A parcel")
    world.bot(parcel, triggers(sshd, nginx, served))
    view = daemon.integrate(parcel)
    tested = view["configurations"][0]["tested"] if view["configurations"] else ""
    claim(view["result"] == "succeeded", "a Make project with its usual commands", f"parcel#{view['number']} {view['result']}, {tested}")
    begun = time.monotonic()
    view = daemon.integrate(parcel, "release/2.0")
    if not claim(view["result"] == "succeeded", "publish and uploads of release/2.0", f"parcel#{view['number']} {view['result']} in {since(begun)}"):
        note(*daemon.command("show", f"parcel#{view['number']}").stdout.splitlines())
    sums = dict(reversed(line.split("  ", 1)) for line in daemon.text("/files/parcel/2.0.0/SHA256SUMS").splitlines())
    if not sums:
        claim(False, "parcel 2.0.0 is published")
        return
    figure = f"{len(sums)} files, {sum(f['size'] for f in daemon.api('products/parcel/versions/2.0.0')['files'])} bytes"
    del sums["manifest.json"]
    if sshd:
        claim(digests(served / "sftp/parcel/2.0.0") == sums, "arrived at OpenSSH by the upload trigger (sftp), sha256 equal", figure)
        # The script sends the integration's artifacts; published they have the version in their names, and the same bytes.
        sent = served / "script/parcel/2.0.0"
        claim(sorted(digests(sent).values()) == sorted(sums.values()), "arrived at OpenSSH by the script trigger deploy/triggers/upload-archive",
              " ".join(sorted(path.name for path in sent.glob("*"))))
        claim(not list(served.rglob("*.part-*")), "nothing half-done is left beside them")
    if nginx:
        claim(digests(nginx.directory / "files/parcel/2.0.0") == sums, "arrived at nginx (PUT, MOVE), sha256 equal",
              f"{figure}; {nginx.accesses.count(chr(34) + 'PUT ')} PUT, {nginx.accesses.count(chr(34) + 'MOVE ')} MOVE")
