"""Real servers on loopback: OpenSSH and nginx, with keys, users and directories of their own."""
import os, pwd

from acceptance import find, free_port, last, launch, listens, read, run, within, write

USER = pwd.getpwuid(os.getuid()).pw_name
PASSWORD = "correct horse"


class NotHere(Exception):
    """A server is not installed or does not start. The text says which and why."""


class Sshd:
    """OpenSSH for this user alone, by the key `user`. It serves the machine's files."""

    def __init__(self, directory):
        program = find("sshd")
        if not program:
            raise NotHere("sshd cannot be started here (Debian: openssh-server)")
        self.directory, self.port = directory, free_port()
        directory.mkdir()
        if os.getuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        for name in ("host", "user"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory / name, check=True)
        self.key = read(directory / "user")
        self.known_host = f"[127.0.0.1]:{self.port} {' '.join(read(directory / 'host.pub').split()[:2])}\n"
        write(directory / "authorized_keys", read(directory / "user.pub"), 0o600)
        write(directory / "sshd_config", "".join(line + "\n" for line in (
            f"Port {self.port}", "ListenAddress 127.0.0.1", f"HostKey {directory}/host", f"PidFile {directory}/sshd.pid",
            f"AuthorizedKeysFile {directory}/authorized_keys", "StrictModes no", "UsePAM no", "PasswordAuthentication no",
            "KbdInteractiveAuthentication no", "Subsystem sftp internal-sftp", f"AllowUsers {USER}", "PermitRootLogin prohibit-password")))
        launch(program, "-D", "-f", directory / "sshd_config", "-E", directory / "log")
        if not within(5, lambda: listens(self.port)):
            raise NotHere(f"sshd cannot be started here: {last(read(directory / 'log'))}")


class Nginx:
    """nginx with a `server` block, in which @PORT@ and @DIRECTORY@ are its own."""

    def __init__(self, directory, server, main="worker_processes 1;", events="worker_connections 64;", http=""):
        program = find("nginx")
        if not program:
            raise NotHere("nginx cannot be started here (Debian: nginx)")
        self.directory, self.port = directory, free_port()
        directory.mkdir(exist_ok=True)
        places = " ".join(f"{name}_temp_path {directory}/tmp-{name};" for name in ("proxy", "fastcgi", "uwsgi", "scgi"))
        server = server.replace("@PORT@", str(self.port)).replace("@DIRECTORY@", str(directory))
        write(directory / "nginx.conf", f"""{"user root;" if os.getuid() == 0 else ""}
{main} pid {directory}/nginx.pid; error_log {directory}/error.log; daemon off;
events {{ {events} }}
http {{
  access_log {directory}/access.log; client_body_temp_path {directory}/tmp-body; {places}
  {http}
  {server}
}}
""")
        with open(directory / "start.log", "w") as log:
            self.process = launch(program, "-p", directory, "-c", directory / "nginx.conf", stdout=log, stderr=log)
        if not within(5, lambda: listens(self.port)):
            raise NotHere(f"nginx cannot be started here: {last(read(directory / 'start.log'))}")

    @property
    def accesses(self):
        return read(self.directory / "access.log")


def password_file(path):
    """A file of HTTP users: `ci` with PASSWORD."""
    digest = run("openssl", "passwd", "-apr1", PASSWORD, check=True).stdout.strip()
    write(path, f"ci:{digest}\n")
