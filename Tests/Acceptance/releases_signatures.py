"""What Tests/Acceptance/releases signatures runs."""
import base64, json, os, shutil, subprocess, sys

from acceptance import Place, claim, finish, last, missing, run
from publishing import PublishingDaemon

RECIPE = """configurations:
  release:
    test: none
    steps:
      - { name: steal, step: building, run: sh ./steal }
      - { name: make, step: building, run: "printf 'the product' > kit" }
analyze: []
archive: { include: [kit] }
"""
# The paths are this run's; nothing of the file may be in the log.
STEAL = """for file in {home}/secrets/signing-key {home}/credentials/signing-key /proc/*/environ; do
    cat "$file" 2>/dev/null | base64 -w 0; done
ls -la {home} {home}/secrets; env; exit 0
"""
# Others' code: securesystemslib verifies the envelope, in-toto-attestation reads statement and predicate.
CHECK = r"""
import base64, hashlib, json, os, sys
from cryptography.hazmat.primitives.serialization import load_ssh_public_key
from google.protobuf.json_format import Parse
from in_toto_attestation.predicates.provenance.v1.provenance_pb2 import Provenance
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementMessage
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

directory, signers = sys.argv[1:]
words = open(signers).read().split()
text = next(f"{one} {two}".encode() for one, two in zip(words, words[1:]) if one == "ssh-ed25519")
blob = base64.b64decode(text.split()[1])
keyid = "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
envelope = Envelope.from_dict(json.load(open(f"{directory}/provenance.json")))
envelope.verify([SSlibKey.from_crypto(load_ssh_public_key(text), keyid=keyid)], 1)
assert envelope.payload_type == "application/vnd.in-toto+json"
statement = Statement.copy_from_pb(Parse(envelope.payload, StatementMessage()))
statement.validate()
assert statement.pb.predicate_type == "https://slsa.dev/provenance/v1"
predicate = Parse(json.dumps(json.loads(envelope.payload)["predicate"]), Provenance())
assert predicate.build_definition.build_type and predicate.run_details.builder.id
subjects = {subject.name: subject.digest["sha256"] for subject in statement.pb.subject}
names = set(os.listdir(directory)) - {"provenance.json", "SHA256SUMS", "SHA256SUMS.sig"}
assert set(subjects) == names, f"{set(subjects)} instead of {names}"
for name, digest in subjects.items():
    assert hashlib.sha256(open(f"{directory}/{name}", "rb").read()).hexdigest() == digest, name
"""


def python_of_others(home):
    """A Python with in-toto's packages."""
    if os.environ.get("MARTLET_PYTHON"):
        return os.environ["MARTLET_PYTHON"]
    place = f"{home}/python"
    made = subprocess.run(f"{sys.executable} -m venv {place} && {place}/bin/pip install -q 'securesystemslib[crypto]' in-toto-attestation",
                          shell=True, capture_output=True, text=True)
    if made.returncode != 0:
        missing(f"in-toto's packages cannot be had from PyPI: {made.stderr.strip()[-300:]}")
    return f"{place}/bin/python"


class Tools:
    """Who judges a version: by name, a function of its directory."""

    def __init__(self, daemon, others, signers):
        self.daemon, self.others, self.signers = daemon, others, signers
        self.checks = {"ssh-keygen -Y verify": self.openssh, "sha256sum -c": self.coreutils,
                       "securesystemslib and in-toto-attestation": self.in_toto, "martlet verify": self.martlet}

    def openssh(self, directory, principal=None):
        with open(f"{directory}/SHA256SUMS") as sums:
            return run("ssh-keygen", "-Y", "verify", "-f", self.signers, "-I", principal or self.daemon.url, "-n", "file", "-s",
                       f"{directory}/SHA256SUMS.sig", stdin=sums).returncode == 0

    def coreutils(self, directory):
        return run("sha256sum", "-c", "--strict", "--quiet", "SHA256SUMS", cwd=directory).returncode == 0

    def in_toto(self, directory):
        return run(self.others, "-c", CHECK, directory, self.signers).returncode == 0

    def martlet(self, directory):
        return self.daemon.command("verify", directory, "--signers", self.signers).returncode == 0


def main(home):
    daemon = PublishingDaemon(home, settings="signing: signing-key\n")
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{home}/secrets/signing-key")
    os.remove(f"{home}/secrets/signing-key.pub")
    secret = "".join(open(f"{home}/secrets/signing-key").read().splitlines()[1:-1])
    others = python_of_others(home)
    daemon.started()
    daemon.kit.git("checkout", "-q", "-b", "release/1.4")
    commit = daemon.kit.commit({".martlet.yml": RECIPE, "steal": STEAL.format(home=home)}, branch=None)
    done = daemon.integrated("release/1.4")
    claim(done["result"] == "succeeded", "a release branch's commit is integrated in the sandbox and published", done["result"])
    log = daemon.text(f"/api/v1/bots/kit/integrations/{done['number']}/log/release")
    pieces = [base64.b64encode(secret[n:].encode())[:24].decode() for n in range(3)] + [secret[100:140]]
    claim("MARTLET_CONFIGURATION" in log and not any(piece in log for piece in pieces),
          "U9: the job that looked for the key found none of it", f"{len(log.splitlines())} lines")

    # As another team gets it: over HTTP, the way that the index says.
    version = daemon.api("products/kit/versions/latest")
    place = f"{home}/downloaded"
    os.mkdir(place)
    names = [file["path"] for file in version["files"]] + ["manifest.json", "provenance.json", "SHA256SUMS", "SHA256SUMS.sig"]
    for name in names:
        status, body = daemon.ask(f"/files/kit/{version['version']}/{name}")
        if status == 200:
            with open(f"{place}/{name}", "wb") as file:
                file.write(body)
    claim(sorted(os.listdir(place)) == sorted(names), "the version has manifest, provenance, sums and signature", ", ".join(sorted(names)))
    signers = f"{home}/ALLOWED_SIGNERS"
    with open(signers, "wb") as file:
        file.write(daemon.ask("/files/ALLOWED_SIGNERS")[1])

    tools = Tools(daemon, others, signers)
    for name, check in tools.checks.items():
        claim(check(place), f"{name} accepts the version")
    claim(not tools.openssh(place, "https://other.example"), "ssh-keygen -Y verify does not for another service's name")
    stated(daemon, commit, done, place)
    flipped(tools, names, place, f"{home}/flipped")
    fetched(daemon, tools, version)
    claim(daemon.leave(), "the daemon ends in order")


def stated(daemon, commit, done, place):
    """What the statement says."""
    statement = json.loads(base64.b64decode(json.load(open(f"{place}/provenance.json"))["payload"]))
    definition, details = statement["predicate"]["buildDefinition"], statement["predicate"]["runDetails"]
    source = definition["resolvedDependencies"][0]
    claim(source["digest"] == {"gitCommit": commit, "gitTree": daemon.kit.git("rev-parse", "HEAD^{tree}")}
          and source["uri"] == f"git+file://{daemon.kit.url}@refs/heads/release/1.4", "the statement names commit and tree", commit[:12])
    claim(definition["internalParameters"]["isolation"] == "sandbox" and details["builder"]["id"] == daemon.url
          and details["metadata"]["invocationId"] == f"{daemon.url}/bots/kit/{done['number']}", "and sandbox, service and integration",
          details["metadata"]["invocationId"])


def flipped(tools, names, place, copy):
    """Which of the tools see a flipped bit, in sixteen places of each file."""
    checks = tools.checks
    for name in sorted(names):
        data = open(f"{place}/{name}", "rb").read()
        begin, length = 0, len(data)
        if name == "SHA256SUMS.sig":
            # What says something: the base64 between the first and the last line, but its line ends.
            begin = data.index(b"\n") + 1
            length = data.rindex(b"\n-----END") - begin
        seen, missed, total = dict.fromkeys(checks, 0), 0, 0
        for number in range(16):
            index = begin + number * (length - 1) // 15
            while data[index:index + 1] == b"\n":
                index -= 1
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(place, copy)
            changed = bytearray(data)
            changed[index] ^= 1 << number % 7
            with open(f"{copy}/{name}", "wb") as file:
                file.write(changed)
            refused = [tool for tool, check in checks.items() if not check(copy)]
            total += 1
            missed += "martlet verify" not in refused or refused == ["martlet verify"]
            for tool in refused:
                seen[tool] += 1
        figure = ", ".join(f"{tool} {count}" for tool, count in seen.items() if count)
        claim(missed == 0, f"a flipped bit in {name} is refused by martlet verify and by others' tools", f"{total} flips: {figure}")


def fetched(daemon, tools, version):
    """The command that does it all."""
    home = daemon.directory
    got = daemon.command("fetch", "kit@~1.4", "--server", daemon.url, "--output", f"{home}/got")
    claim(got.returncode == 0 and "signed by" in got.stderr and tools.martlet(f"{home}/got"), "martlet fetch kit@~1.4 checks and keeps it",
          last(got.stderr))
    published = f"{home}/state/files/kit/{version['version']}/{version['files'][0]['path']}"
    os.chmod(published, 0o644)
    data = bytearray(open(published, "rb").read())
    data[len(data) // 2] ^= 1
    with open(published, "wb") as file:
        file.write(data)
    # What the daemon has in memory is right.
    daemon.leave()
    daemon.started()
    bad = daemon.command("fetch", "kit@~1.4", "--server", daemon.url, "--output", f"{home}/bad")
    claim(bad.returncode in (1, 70) and not os.path.exists(f"{home}/bad"), "and keeps nothing of one with a flipped bit on the server",
          bad.stderr.strip().splitlines()[0] if bad.stderr else "")


with Place() as place:
    main(place)
finish()
