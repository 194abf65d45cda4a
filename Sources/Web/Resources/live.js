// Keeps a page as it is on the server, and follows a log that is being written. Pages are whole without it.
"use strict";
(() => {
  const script = document.currentScript.src;
  const main = () => document.querySelector("main");
  const followedLog = () => document.querySelector("#log[data-log]");

  // ---- One stream of events: of a worker that all tabs share, otherwise of this tab while it is visible.

  const listen = (logs, hear) => {
    if ("SharedWorker" in window) {
      const { port } = new SharedWorker(new URL("stream.js" + new URL(script).search, script), "martlet events");
      const join = () => port.postMessage({ logs: logs() });
      port.onmessage = ({ data }) => hear(data.kind, data.data);
      addEventListener("pagehide", () => port.postMessage({ leaves: true }));
      addEventListener("pageshow", (event) => { if (event.persisted) join(); });
      return join;
    }
    let source = null;
    const join = () => {
      source?.close();
      source = null;
      if (document.hidden) return;
      source = new EventSource(new URL(`live/events?${logs().map((log) => `log=${encodeURIComponent(log)}`).join("&")}`, script));
      source.onopen = () => hear("open");
      for (const kind of ["integration", "bots", "repository", "delivery", "outbox", "version", "log", "gap"])
        source.addEventListener(kind, (event) => hear(kind, JSON.parse(event.data)));
    };
    document.addEventListener("visibilitychange", join);
    addEventListener("pagehide", () => source?.close());
    return join;
  };

  // ---- Changes elements in place, so that focus, scrolling, selections, open parts and what was typed stay.

  const identity = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeName;
    const name = node.id || (/^(DETAILS|LI|TR|ARTICLE|SECTION|A|FORM)$/.test(node.nodeName)
      ? node.getAttribute("href") || node.querySelector(".name, a[href]")?.textContent : "");
    return `${node.nodeName} ${name || ""}`;
  };
  const morph = (old, fresh) => {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== Node.ELEMENT_NODE) { old.data = fresh.data; return; }
    const kept = (name) => name === "open" && old.nodeName === "DETAILS" || /^(value|checked)$/.test(name);
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !kept(name)) old.removeAttribute(name);
    for (const { name, value } of [...fresh.attributes])
      if (!kept(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
    let at = old.firstChild;
    for (const child of [...fresh.childNodes]) {
      const wanted = identity(child);
      let match = at;
      while (match && identity(match) !== wanted) match = match.nextSibling;
      if (!match) { old.insertBefore(child, at); continue; }
      while (at !== match) { const gone = at; at = at.nextSibling; gone.remove(); }
      at = match.nextSibling;
      morph(match, child);
    }
    while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
  };

  const load = async (address) => {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  };

  // ---- A log.

  let isFollowing = false;
  const button = document.createElement("button");
  [button.type, button.className, button.textContent] = ["button", "button follow", "Follow"];
  const isAtEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 40;
  const toEnd = () => scrollTo(0, document.documentElement.scrollHeight);
  const showButton = () => { button.hidden = isFollowing || !followedLog(); };
  button.onclick = () => {
    if (!("end" in followedLog().dataset)) { location.assign(location.pathname); return; }
    isFollowing = true;
    toEnd();
    showButton();
  };

  const number = (row) => Number(row?.id.slice(1) || 0);
  const rowsOf = (log) => [...log.querySelectorAll("pre > span[id]")];
  // Replaces the newest lines, which the job may have rewritten or which belong to a step that has begun, and adds those that follow.
  const merge = (log, fresh, first) => {
    for (const row of log.querySelectorAll("pre > span"))
      if (row.id ? number(row) >= number(first) : !row.nextElementSibling) row.remove();
    for (const part of [...fresh.children]) {
      const known = document.getElementById(part.id);
      if (!known) { log.append(part); continue; }
      const end = known.querySelector(".end");
      if (end) morph(end, part.querySelector(".end"));
      known.querySelector("pre").append(...part.querySelector("pre").childNodes);
    }
    const rows = log.querySelectorAll("pre > span");
    for (let index = 0; index < rows.length - 6000; index += 1) rows[index].remove();
  };
  // The results name lines that were shown without a mark, and there are errors to go to.
  const markResults = async (log, address) => {
    const last = number(rowsOf(log).at(-1));
    for (let since = number(rowsOf(log)[0]); since;) {
      address.searchParams.set("since", since);
      const page = await load(address), rows = page ? [...page.querySelectorAll("#log pre > span[id]")] : [];
      for (const row of rows) {
        const known = document.getElementById(row.id);
        if (known) morph(known, row);
      }
      const end = number(rows.at(-1));
      since = end >= since && end < last ? end + 1 : 0;
    }
    const page = await load(location.href);
    if (page) morph(document.querySelector(".split"), page.querySelector(".split"));
  };
  const updateLog = async (log) => {
    const address = new URL(location.href), shown = rowsOf(log), since = number(shown.at(-101) || shown[0]) || 1;
    for (const name of ["line", "from", "step", "q", "after", "find"]) address.searchParams.delete(name);
    address.searchParams.set("attempt", log.dataset.log.split("/")[3]);
    address.searchParams.set("since", since);
    const page = await load(address);
    const fresh = page?.getElementById("log");
    if (!fresh) return;
    const stays = isFollowing;
    if ("end" in log.dataset) {
      const first = fresh.querySelector("pre > span[id]");
      // Too much was printed since, or what was rewritten began before the lines that are known.
      const isApart = Number(fresh.dataset.first) !== since || !first || shown.length && !document.getElementById(first.id);
      if (isApart) log.replaceChildren(...fresh.childNodes); else merge(log, fresh, first);
      const all = rowsOf(log);
      document.getElementById("range").textContent = all.length
        ? `lines ${number(all[0]).toLocaleString("en")} to ${number(all.at(-1)).toLocaleString("en")}` : "";
    }
    morph(document.querySelector(".head"), page.querySelector(".head"));
    if (!fresh.dataset.log) {
      log.removeAttribute("data-log");
      join();
      await markResults(log, address);
    }
    showButton();
    if (stays) toEnd();
  };

  // `#L12` of a line that the page does not show, and addresses that show the line again wherever they are opened.
  const showLine = () => {
    const line = location.hash.match(/^#L(\d+)$/)?.[1], address = new URL(location.href);
    if (!line || !document.getElementById("log")) return;
    const isShown = document.getElementById(`L${line}`), asked = address.searchParams.get("line") === line;
    address.searchParams.set("line", line);
    for (const name of ["from", "step", "since"]) address.searchParams.delete(name);
    if (isShown) history.replaceState(null, "", address);
    else if (asked) document.querySelector("#log .at")?.scrollIntoView();
    else location.replace(address);
  };

  // ---- What changes when.

  const kinds = { deliveries: ["delivery"], outbox: ["outbox"], products: ["version"] };
  const concerns = (kind, data = {}) => {
    if (kind === "open" || kind === "gap") return true;
    const log = followedLog();
    if (kind === "log") return log?.dataset.log === data.log;
    const [what, bot, number] = log ? ["log", ...log.dataset.log.split("/")] : (document.body.dataset.watch || "").split(" ");
    return Boolean(what) && (kinds[what] || ["integration", "bots"]).includes(kind)
      && (!bot || !data.bot || data.bot === bot) && (!number || !data.number || String(data.number) === number);
  };
  let timer = 0, busy = false;
  const refresh = async () => {
    timer = 0;
    if (busy) { soon(); return; }
    if (document.hidden) return;
    // Not while somebody fills in a form, whose text would be gone.
    if (document.querySelector("main .act[open]")) { soon(); return; }
    busy = true;
    try {
      const log = followedLog();
      if (log) {
        await updateLog(log);
      } else if (document.body.dataset.watch) {
        const page = await load(location.href);
        if (page) {
          morph(main(), page.querySelector("main"));
          document.title = page.title;
          if (page.body.dataset.watch) document.body.dataset.watch = page.body.dataset.watch;
          else delete document.body.dataset.watch;
          document.dispatchEvent(new Event("refreshed"));
        }
      }
    } catch { /* The service restarts; the next event tries again. */ }
    busy = false;
  };
  const soon = () => { timer ||= setTimeout(refresh, followedLog() ? 250 : 700); };
  let join = () => {}, hasMissed = false;
  if (document.body.dataset.watch || followedLog()) {
    join = listen(() => (followedLog() ? [followedLog().dataset.log] : []), (kind, data) => {
      if (!concerns(kind, data)) return;
      hasMissed ||= document.hidden;
      soon();
    });
    join();
    document.addEventListener("visibilitychange", () => {
      if (document.hidden || !hasMissed) return;
      hasMissed = false;
      soon();
    });
  }
  if (followedLog()) {
    const asked = new URL(location.href).searchParams;
    isFollowing = "end" in followedLog().dataset && !location.hash && !["line", "from", "step", "q"].some((name) => asked.has(name));
    main().append(button);
    showButton();
    if (isFollowing) toEnd();
    addEventListener("scroll", () => { isFollowing = "end" in (followedLog()?.dataset || {}) && isAtEnd(); showButton(); });
  }
  addEventListener("hashchange", showLine);
  showLine();
})();
