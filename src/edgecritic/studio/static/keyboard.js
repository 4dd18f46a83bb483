// The keyboard: a key for everything, and a cursor that arrow keys move.

import { actions } from "./actions.js";
import { redo, undo } from "./commit.js";
import { $, desk } from "./desk.js";
import { choose, nextColours, zoom, zoomBy } from "./settings.js";
import { showPlace } from "./tell.js";

const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const keys = {
  "+": () => zoomBy(1.5), "=": () => zoomBy(1.5), "-": () => zoomBy(1 / 1.5),
  0: () => actions.fit(), 1: () => zoom(1), 2: () => zoom(2), 4: () => zoom(4), 8: () => zoom(8),
  c: () => nextColours(), m: () => $("show-map").click(), i: () => $("show-photo").click(),
  n: () => document.querySelector("[data-go=after]")?.click(), b: () => document.querySelector("[data-go=before]")?.click(),
  "?": () => $("help").showModal(),
  Enter: () => desk.tool.finish(),
  Escape: () => { desk.tool.cancel(); desk.tool.discard(); desk.cursor = null; desk.view.invalidate(); },
  Backspace: () => desk.tool.back(),
  " ": () => actAtCursor(),
};

/** Let the keyboard work on the page: its own keys, and those of the tools. */
export function listenToKeys() {
  for (const tool of desk.tools) {
    if (tool.key) keys[tool.key] = () => choose(tool);
    Object.assign(keys, tool.keys);
  }
  document.addEventListener("keydown", key);
}

function key(event) {
  if (document.querySelector("dialog[open]")) return;
  const field = event.target.closest("input, button, a, select");
  if (field && field.type === "number" && !event.ctrlKey && !event.metaKey) return;
  if (event.ctrlKey || event.metaKey) {
    const name = event.key.toLowerCase();
    if (name === "z") { event.preventDefault(); if (event.shiftKey) redo(); else undo(); }
    if (name === "y") { event.preventDefault(); redo(); }
    if (event.key === "Enter") { event.preventDefault(); actions.submit(); }
    return;
  }
  if (event.altKey) return;
  if (steps[event.key] && !(field && field.type === "range")) {
    event.preventDefault();
    moveCursor(steps[event.key], event.shiftKey ? 10 : 1);
    return;
  }
  if (field && [" ", "Enter"].includes(event.key) && field.id !== "canvas") return;
  const act = keys[event.key] ?? keys[event.key.toLowerCase()];
  if (act) { event.preventDefault(); act(); }
}

function moveCursor([dx, dy], step) {
  const { view } = desk, before = desk.cursor ?? desk.hover;
  const from = before ?? [Math.round((view.canvas.width / 2 - view.x) / view.scale), Math.round((view.canvas.height / 2 - view.y) / view.scale)];
  desk.cursor = view.clamp([from[0] + dx * step, from[1] + dy * step]);
  desk.hover = desk.cursor;
  view.showPixel(...desk.cursor);
  desk.tool.hover(before);
  showPlace();
  view.invalidate();
}

function actAtCursor() {
  const at = desk.cursor ?? desk.hover;
  if (at && !desk.finished) desk.tool.act(at);
}
