"""The daemon that the parts of Tests/Acceptance/intake ask, and clients that sign for forges."""
import hashlib, hmac, http.client

from acceptance import Daemon, Place, Repository

SECRET = "an intake secret"
FORGES = ["github", "gitlab", "gitea", "forgejo", "gogs", "bitbucket", "bitbucket-server"]


class IntakeDaemon(Daemon):
    def __init__(self, secrets, lines=""):
        """secrets: by the bot's name; lines: others of each bot's file."""
        super().__init__(Place().path, "isolation: none\n")
        self.repository = Repository(self.directory, "kit")
        for bot, secret in secrets.items():
            self.file(bot, f"repository: {self.repository.url}\npoll: off\nwebhook: {{ secret: {bot} }}\n{lines}")
            self.secret(bot, secret)
        self.started()


class Sender:
    """A client that keeps its connection."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def post(self, path, headers, body):
        self.connection.request("POST", path, body, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read().decode()


def signed(forge, headers, body, secret=SECRET):
    code = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    proof = {
        "github": ("X-Hub-Signature-256", "sha256=" + code), "gitlab": ("X-Gitlab-Token", secret),
        "gitea": ("X-Gitea-Signature", code), "forgejo": ("X-Forgejo-Signature", code), "gogs": ("X-Gogs-Signature", code),
    }.get(forge, ("X-Hub-Signature", "sha256=" + code))
    return headers | dict([proof])
