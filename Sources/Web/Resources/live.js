// Reloads the page's content when what it shows has changed. Pages are whole without it.
"use strict";
const script = document.currentScript.src, watched = document.body.dataset.watch;
if (watched && "EventSource" in window) {
  const [kind, bot, number] = watched.split(" ");
  let timer = 0, busy = false;
  const refresh = async () => {
    timer = 0;
    // Nor while somebody fills in a form, whose text would be gone.
    if (busy || document.hidden || String(getSelection()) || document.querySelector("main .act[open]")) { later(); return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const open = new Set([...document.querySelectorAll("details[open] .name")].map((name) => name.textContent));
        const main = page.querySelector("main");
        for (const details of main.querySelectorAll("details"))
          if (open.has(details.querySelector(".name")?.textContent)) details.open = true;
        document.querySelector("main").replaceWith(main);
        document.title = page.title;
      }
    } catch { /* The service restarts; the next event tries again. */ }
    busy = false;
  };
  const later = () => { if (!timer) timer = setTimeout(refresh, 700); };
  const events = new EventSource(new URL("api/v1/events", script));
  const heard = (event) => {
    const data = JSON.parse(event.data);
    if ((!bot || !data.bot || data.bot === bot) && (!number || !data.number || String(data.number) === number)) later();
  };
  for (const name of kind === "deliveries" ? ["delivery"] : kind === "outbox" ? ["outbox"] : kind === "products" ? ["version"] : ["integration", "bots"])
    events.addEventListener(name, heard);
}
