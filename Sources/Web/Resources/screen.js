// Shows the tiles of the big screen in groups that fit, and goes on to the next group after `data-cycle` seconds. 0 stays.
// Arrow keys go to the next and previous group; the space bar stops and goes on.
"use strict";
let group = 0, isStopped = false, timer = 0;
const tiles = () => [...document.querySelectorAll(".tile")];
const size = () => (innerWidth < 700 ? 1 : innerWidth < 1100 ? 2 : innerWidth < 1700 ? 3 : 4);
const show = () => {
  const all = tiles(), count = Math.max(1, Math.ceil(all.length / size()));
  group = ((group % count) + count) % count;
  all.forEach((tile, place) => (tile.hidden = Math.floor(place / size()) !== group));
  document.documentElement.classList.add("cycling");
};
const again = () => {
  clearInterval(timer);
  const seconds = Number(document.querySelector("main").dataset.cycle) || 0;
  if (seconds > 0) timer = setInterval(() => { if (!isStopped) { group += 1; show(); } }, seconds * 1000);
};
document.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) { group += step; show(); again(); }
  if (event.key === " ") { isStopped = !isStopped; event.preventDefault(); }
});
addEventListener("resize", show);
document.addEventListener("refreshed", show);
show();
again();
