#!/usr/bin/env python3
"""Shows what other tools make of the service: a line for each claim.

    Tests/Acceptance/browser_tools.py [schemathesis] [prometheus] [traces] [sizes] [events]     all by default

A real daemon integrates two small projects; then
- schemathesis (PyPI) asks each operation of /openapi.json with valid and invalid requests, and finds nothing;
- promtool (Debian's prometheus) checks /metrics;
- a receiver of OTLP/HTTP gets the traces, which the protobuf of opentelemetry-proto (PyPI) reads;
- each page, list and log is the same compressed, and smaller;
- the event stream continues after a lost connection.

PyPI's packages are looked for in the running Python: pip install schemathesis opentelemetry-proto.
"""
import base64, gzip, http.server, importlib.util, json, os, pathlib, re, shutil, subprocess, sys, threading, urllib.request

from acceptance import Daemon, Place, Repository, claim, finish, skip, within
from pictures import BROKEN, METER, ORDERS, SAFE

MANY = {"tests/test_many.py": "import pytest\n\n\n@pytest.mark.parametrize('number', range(400))\ndef test_number(number):\n    assert number >= 0\n"}


class Collector:
    """A receiver of OTLP/HTTP. It answers 503 once, as a collector that is starting."""

    def __init__(self):
        collector = self
        self.bodies, self.requests = [], []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.requests.append((self.path, self.headers["Content-Type"]))
                accepts = len(collector.requests) > 1
                if accepts:
                    collector.bodies.append(body)
                self.send_response(200 if accepts else 503)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def world(daemon, place):
    """Integrates a few commits of two projects; returns the commits."""
    orders, meter = Repository(place, "orders-source"), Repository(place, "meter-source")
    commits = [(orders, "orders", orders.commit({**ORDERS, **MANY}, subject="Add the price of an order")),
               (meter, "meter", meter.commit(METER, subject="Count up"))]
    daemon.bot("orders", orders, more="")
    daemon.bot("meter", meter, more="")
    for repository, bot, commit in commits:
        claim(within(180, lambda: daemon.completed(bot, commit, limit=1), pause=1), f"{bot} is integrated")
    commit = orders.commit(BROKEN, subject="Round the total down")
    daemon.push("orders", "second", commits[0][2], commit)
    claim(within(180, lambda: daemon.completed("orders", commit, limit=1), pause=1), "a failing commit is integrated")
    return commits


# schemathesis

def schemathesis(daemon, place):
    program = pathlib.Path(sys.executable).parent / "schemathesis"
    if not program.exists():
        return skip("schemathesis finds nothing", "pip install schemathesis")
    token = daemon.command("token", "create", "tester", "--role", "admin")
    secret = re.search(r"mt_[0-9a-f]{64}", token.stdout + token.stderr)[0]
    # Names of what is there, so that most requests reach the handlers. With them no token is revoked: the run would end its own.
    there = '[parameters]\n"path.bot" = "orders"\n"path.configuration" = "debug"\n"path.job" = "debug"\n'
    for what, examples, parameters, more in (("names of what is there", 40, there, ["--exclude-operation-id", "revokeToken"]),
                                             ("names of its own", 20, "", [])):
        (place / "schemathesis.toml").write_text(f"generation.max-examples = {examples}\n{parameters}")
        run = subprocess.run(
            [str(program), "--config-file", str(place / "schemathesis.toml"), "run", daemon.url + "/openapi.json",
             "-H", f"Authorization: Bearer {secret}", "--exclude-path-regex", "/events$", *more, "--checks", "all", "--workers", "2",
             "--seed", "1", "--request-timeout", "30", "--no-color"],
            capture_output=True, text=True, cwd=place)
        text = run.stdout + run.stderr
        if os.environ.get("MARTLET_KEEP"):
            print(text[-20000:])
        figure = re.search(r"(\d+) generated", text)
        claim(run.returncode == 0, f"schemathesis finds nothing with {what}, in all but the endless streams",
              f"{figure[1]} requests" if figure else text.strip().split("\n")[-1])


# Prometheus

def prometheus(daemon, place):
    if not shutil.which("promtool"):
        return skip("promtool finds nothing in /metrics", "apt-get install prometheus")
    text = daemon.ask("/metrics")[1]
    run = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    claim(run.returncode == 0 and not run.stdout + run.stderr, "promtool finds nothing in /metrics",
          (run.stdout + run.stderr).decode().strip().replace("\n", "; "))
    lines = text.decode().split("\n")
    count = next((line for line in lines if line.startswith('martlet_integration_seconds_count{bot="orders",result="test-failures"}')), "")
    claim(count.endswith(" 1"), "a failing integration is in the histogram of its bot and result", count)
    steps = [line for line in lines if line.startswith("martlet_step_seconds_sum")]
    claim(len(steps) >= 4 and any('step="testing"' in line for line in steps), "each kind of step has a histogram", f"{len(steps)} label sets")


# OpenTelemetry

def traces(collector, count):
    if not importlib.util.find_spec("opentelemetry"):
        return skip("traces are read by opentelemetry-proto", "pip install opentelemetry-proto")
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    within(60, lambda: sum(len(json.loads(body)["resourceSpans"]) for body in collector.bodies) >= count, pause=0.5)
    claim(set(collector.requests) == {("/v1/traces", "application/json")} and len(collector.requests) > len(collector.bodies),
          "traces come by OTLP/HTTP, again after a 503", f"{len(collector.requests)} requests")

    def encoded(value):
        # OTLP's JSON has ids in hexadecimal digits where the mapping of protobuf has Base64.
        if isinstance(value, dict):
            return {key: base64.b64encode(bytes.fromhex(each)).decode() if key in ("traceId", "spanId", "parentSpanId") else encoded(each)
                    for key, each in value.items()}
        return [encoded(each) for each in value] if isinstance(value, list) else value

    spans = {}
    for body in collector.bodies:
        request = json_format.ParseDict(encoded(json.loads(body)), ExportTraceServiceRequest())
        for resource in request.resource_spans:
            facts = {each.key: each.value.string_value for each in resource.resource.attributes}
            spans[facts["cicd.pipeline.run.id"]] = (facts, [span for scope in resource.scope_spans for span in scope.spans])
    claim(len(spans) >= count, "opentelemetry-proto reads them, one trace for each integration", f"{len(spans)} traces")
    facts, own = spans.get("orders#2", ({}, []))
    attributes = [{each.key: each.value.string_value for each in span.attributes} for span in own]
    ids = {span.span_id for span in own}
    claim(bool(own) and own[0].kind == 2 and attributes[0]["cicd.pipeline.result"] == "failure" and attributes[0]["error.type"] == "test-failures"
          and own[0].status.code == 2 and facts["cicd.pipeline.name"] == "orders" and facts["vcs.ref.head.name"] == "main",
          "a failed run is a span of the kind SERVER with its result", own[0].name if own else "")
    claim(bool(own) and all(span.parent_span_id in ids for span in own[1:]) and len({span.trace_id for span in own}) == 1
          and all(len(span.trace_id) == 16 and len(span.span_id) == 8 and span.end_time_unix_nano >= span.start_time_unix_nano for span in own),
          "jobs and steps are spans beneath it", ", ".join(span.name for span in own[1:]))
    claim(bool(own) and all({"cicd.pipeline.task.name", "cicd.pipeline.task.run.id", "cicd.pipeline.task.run.result", "cicd.pipeline.task.run.url.full"}
                            <= set(each) for each in attributes[1:]), "each task has the attributes that the conventions require")


# Compression

def sizes(daemon):
    pages = ["/", "/bots/orders", "/bots/orders/1", "/bots/orders/1/tests", "/bots/orders/1/log/debug", "/bots/orders/tests", "/deliveries", "/docs",
             "/docs/reference/bot-file", "/style.css", "/openapi.json", "/api/v1/bots/orders/integrations/1/tests",
             "/api/v1/bots/orders/integrations/1/tests.xml", "/api/v1/bots/orders/integrations/1/tests/grid?all",
             "/api/v1/bots/orders/integrations/1/log/debug"]
    total, packed, largest = 0, 0, ("", 0)
    for path in pages:
        whole = urllib.request.urlopen(daemon.url + path)
        plain, tag = whole.read(), whole.headers["ETag"]
        answer = urllib.request.urlopen(urllib.request.Request(daemon.url + path, headers={"Accept-Encoding": "gzip"}))
        body = answer.read()
        isSame = answer.headers["Content-Encoding"] == "gzip" and gzip.decompress(body) == plain
        isVaried = "Accept-Encoding" in (answer.headers["Vary"] or "") and (tag is None or answer.headers["ETag"] != tag)
        if len(plain) >= 1024 and not (isSame and isVaried):
            claim(False, f"{path} is the same compressed", f"{answer.headers['Content-Encoding']} {answer.headers['Vary']}")
        total, packed, largest = total + len(plain), packed + len(body), max(largest, (path, len(body)), key=lambda each: each[1])
        if path.startswith("/bots") or path == "/":
            print(f"         {path:<60} {len(plain):>9,} -> {len(body):>8,} bytes")
    claim(packed * 3 < total, "pages, lists and logs are the same compressed, and a third of the size at most", f"{total:,} -> {packed:,} bytes")
    claim(largest[1] <= 100_000, "each is at most 100 kB compressed", f"{largest[0]} {largest[1]:,} bytes")
    signed = {"Accept-Encoding": "gzip", "Cookie": "martlet=x"}
    for site, word in (("cross-site", None), ("same-origin", "gzip"), (None, None)):
        headers = {**signed, **({"Sec-Fetch-Site": site} if site else {})}
        answer = urllib.request.urlopen(urllib.request.Request(daemon.url + "/docs", headers=headers))
        claim(answer.headers["Content-Encoding"] == word, f"with a cookie, a request from {site or 'an unknown site'} gets its page {word or 'as it is'}")


# Events

def events(daemon, place):
    def read(until, headers={}):
        with urllib.request.urlopen(urllib.request.Request(daemon.url + "/api/v1/events", headers=headers), timeout=30) as stream:
            text = ""
            while until not in text:
                text += stream.readline().decode()
            return text + stream.readline().decode() + stream.readline().decode()

    first = re.search(r"^id: (\S+)$", read("id: "), re.M)[1]
    daemon.command("integrate", "meter")
    within(60, lambda: any(each["state"] == "completed" for each in daemon.integrations("meter")[:1]) and len(daemon.integrations("meter")) > 1, pause=1)
    text = read("event: integration", {"Last-Event-ID": first})
    claim('"bot":"meter"' in text and "event: gap" not in text, "a client that comes back gets the events that it missed", first)
    claim("event: gap" in read("event: gap", {"Last-Event-ID": "0badcafe-7"}), "a client of an earlier start is told of the gap")


def main():
    wanted = sys.argv[1:] or ["prometheus", "sizes", "events", "traces", "schemathesis"]
    collector = Collector()
    with Place() as place:
        daemon = Daemon(place, f"traces: {{ endpoint: {collector.url} }}\n")
        daemon.start()
        try:
            world(daemon, place)
            if "prometheus" in wanted:
                prometheus(daemon, place)
            if "sizes" in wanted:
                sizes(daemon)
            if "events" in wanted:
                events(daemon, place)
            if "traces" in wanted:
                traces(collector, 3)
            if "schemathesis" in wanted:
                schemathesis(daemon, place)
        finally:
            daemon.stop()
    finish()


if __name__ == "__main__":
    main()
