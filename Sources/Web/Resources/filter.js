// Filters the rows of a table while one types. The form does the same without a script.
"use strict";
let typed = null;
const filter = () => {
  const input = document.querySelector("[data-filter]"), table = input && document.querySelector(input.dataset.filter);
  if (!table || typed === null) return;
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  for (const body of table.tBodies) {
    const name = (body.dataset.name || "").toLowerCase();
    let shown = 0, first = null;
    for (const row of body.rows) {
      const text = name + " " + (row.querySelector(".ref")?.textContent || "").toLowerCase();
      const fits = words.every((word) => text.includes(word));
      if (!first) first = row;
      row.hidden = !fits;
      if (fits) shown += 1;
    }
    // The first row has the bot's name, which all of them need.
    if (shown && first.hidden) first.hidden = false;
    body.hidden = !shown;
  }
};
document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-filter]")) return;
  typed = event.target.value;
  filter();
});
// The page was refreshed as the server has it: with all rows.
document.addEventListener("refreshed", () => {
  const input = document.querySelector("[data-filter]");
  if (typed === null || !input) return;
  if (input.value !== typed) input.value = typed;
  filter();
});
