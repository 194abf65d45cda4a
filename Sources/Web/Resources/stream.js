// The one event stream of a browser, for all its tabs: a shared worker. A browser opens only six connections to a server over HTTP/1.1.
"use strict";
const tabs = new Map(); // The logs that each tab follows, by its port.
const kinds = ["integration", "bots", "repository", "delivery", "outbox", "version", "log", "gap"];
let source = null, address = "", timer = 0;

const send = (message) => { for (const port of tabs.keys()) port.postMessage(message); };

const connect = () => {
  timer = 0;
  const logs = [...new Set([...tabs.values()].flat())].sort().slice(0, 16);
  const wanted = tabs.size ? `live/events?${logs.map((log) => `log=${encodeURIComponent(log)}`).join("&")}` : "";
  if (wanted === address && source?.readyState !== EventSource.CLOSED) return;
  source?.close();
  [source, address] = [null, wanted];
  if (!wanted) return;
  source = new EventSource(new URL(wanted, location.href));
  // What changed before the stream was open, or while it was broken, is told by no event.
  source.onopen = () => send({ kind: "open" });
  source.onerror = () => { if (source?.readyState === EventSource.CLOSED) soon(5000); };
  for (const kind of kinds)
    source.addEventListener(kind, (event) => send({ kind, data: JSON.parse(event.data) }));
};

const soon = (delay = 50) => { timer ||= setTimeout(connect, delay); };

self.onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data.leaves) tabs.delete(port); else tabs.set(port, data.logs);
    soon();
  };
};
