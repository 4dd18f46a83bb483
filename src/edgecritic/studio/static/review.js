// The owner's review of one person's map: comments are pinned to places.

import { element } from "./fields.js";
import { send } from "./net.js";

const $ = (id) => document.getElementById(id);
const path = document.querySelector("main").dataset.comments, { viewer } = document.querySelector("[data-viewer]");
const form = $("comment-form"), list = $("comment-list"), { text } = form.elements;
let place = null;

function showPins() {
  const pins = [...list.children].map((row, at) => ({ x: Number(row.dataset.x), y: Number(row.dataset.y), words: String(at + 1), done: row.dataset.done === "yes" }));
  viewer.pins = place ? [...pins, { x: place[0], y: place[1], words: "+" }] : pins;
  viewer.invalidate();
}

function choose(pixel) {
  place = pixel;
  $("comment-place").textContent = place ? place.join(", ") : "click on the image";
  form.querySelector("button").disabled = !place;
  if (place) text.focus({ preventScroll: true });
  showPins();
}

viewer.canvas.addEventListener("place", (event) => choose(event.detail));

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!place) return;
  try {
    const made = await send(path, { json: { x: place[0], y: place[1], text: text.value } });
    list.append(row(made));
    text.value = "";
    $("comment-log").textContent = "Stored. The annotator sees it after you send the map back.";
    choose(null);
  } catch (failure) { $("comment-log").textContent = failure.message; }
});

function row({ id, x, y, text: words }) {
  const made = element("li", {}, `${words} `, element("span", { className: "soft small" }, `at ${x}, ${y}`), " ");
  Object.assign(made.dataset, { id, x, y, done: "" });
  for (const [name, action] of [["Show", "show"], ["Delete", "delete"]]) {
    const button = element("button", { className: "quiet", type: "button" }, name);
    button.dataset[action] = "";
    made.append(button);
  }
  return made;
}

list.addEventListener("click", async (event) => {
  const button = event.target.closest("button"), one = event.target.closest("li");
  if (!button) return;
  if ("show" in button.dataset) { viewer.look(Number(one.dataset.x), Number(one.dataset.y)); return; }
  try {
    await send(`${path}/${one.dataset.id}/delete`, { json: {} });
    one.remove();
    showPins();
  } catch (failure) { $("comment-log").textContent = failure.message; }
});

showPins();
