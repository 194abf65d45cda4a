// Filters the tests that are on the page, and counts the ticked ones. Pages are whole without it: the form asks the server.
"use strict";
(() => {
  const tree = () => document.querySelector(".tree");
  const filter = () => {
    const box = document.querySelector(".tree-search input[type=search]"), root = tree();
    if (!box || !root) return;
    const text = box.value.trim().toLowerCase();
    for (const suite of root.querySelectorAll("details")) {
      const name = suite.querySelector(".name").textContent.toLowerCase();
      let shown = 0;
      for (const row of suite.querySelectorAll("tbody tr")) {
        row.hidden = text !== "" && !`${name}/${row.querySelector("th").textContent.toLowerCase()}`.includes(text);
        if (!row.hidden) shown += 1;
      }
      suite.hidden = shown === 0;
      if (text !== "" && shown > 0) suite.open = true;
    }
    for (const note of root.querySelectorAll("[data-none]")) note.hidden = root.querySelector("details:not([hidden])") !== null;
  };
  const count = () => {
    const button = document.querySelector(".tree-run button");
    if (!button) return;
    const ticked = tree().querySelectorAll("input[name=test]:checked").length;
    button.disabled = ticked === 0;
    button.textContent = ticked === 0 ? "Run ticked tests again" : ticked === 1 ? "Run 1 test again" : `Run ${ticked.toLocaleString("en")} tests again`;
  };
  document.addEventListener("input", (event) => { if (event.target.closest(".tree-search")) filter(); });
  document.addEventListener("change", (event) => { if (event.target.name === "test") count(); });
  document.addEventListener("click", (event) => {
    const choose = event.target.closest("[data-tick]");
    if (!choose) return;
    for (const row of tree().querySelectorAll("tbody tr:not([hidden])")) {
      const box = row.querySelector("input[name=test]");
      if (box) box.checked = choose.dataset.tick === "none" ? false : choose.dataset.tick === "all" || row.querySelector("td.bad") !== null;
    }
    count();
  });
  const begin = () => {
    for (const hidden of document.querySelectorAll("[data-script]")) hidden.hidden = false;
    count();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin); else begin();
  document.addEventListener("refreshed", () => { begin(); filter(); });
})();
