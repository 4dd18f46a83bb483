// What the owner says of places of the map: pins, and a list in which each is marked as done.

import { $, desk, work } from "./desk.js";
import { element } from "./fields.js";
import { get, send } from "./net.js";
import { drawPin } from "./pins.js";
import { say, showZoom } from "./tell.js";

let comments = [];

/** Load the comments and list them. */
export async function listComments() {
  ({ comments } = await get(`${work}/comments`));
  $("comments").hidden = !comments.length;
  $("comment-list").replaceChildren(...comments.map(row));
  desk.view.invalidate();
}

function row(comment) {
  const box = element("input", { type: "checkbox", checked: comment.done, onchange: () => mark(comment, box) });
  const show = element("button", { className: "quiet", type: "button", onclick: () => look(comment) }, "Show");
  return element("li", {}, element("label", { className: "check" }, box, ` ${comment.text}`), show);
}

async function mark(comment, box) {
  try {
    await send(`${work}/comments/${comment.id}`, { json: { done: box.checked } });
    comment.done = box.checked;
  } catch (failure) { box.checked = comment.done; say(failure.message); }
  desk.view.invalidate();
}

function look({ x, y }) {
  const { view } = desk;
  view.zoomTo(Math.max(view.scale, 2 * view.ratio));
  view.pan(view.canvas.width / 2 - (view.x + x * view.scale), view.canvas.height / 2 - (view.y + y * view.scale));
  showZoom();
}

export function drawComments(context, view) {
  comments.forEach(({ x, y, done }, at) => {
    if (!done) drawPin(context, view.x + (x + 0.5) * view.scale, view.y + (y + 0.5) * view.scale, String(at + 1), view);
  });
}
