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
  c: () => nextColours(), m: () => $("show-map").click(), i: () => $("show-photo").click(), g: () => $("show-gradient").click(),
  n: () => document.querySelector("[data-go=after]")?.click(), b: () => document.querySelector("[data-go=before]")?.click(),
  t: () => $("guideline")?.showModal(),
  "?": () => $("help").showModal(),
  Enter: () => desk.tool.finish(),
  Escape: () => { desk.tool.cancel(); desk.tool.discard(); desk.cursor = null; desk.view.invalidate(); },
  Backspace: () => desk.tool.back(),
};

/** Let the keyboard work on the page: its own keys, and those of the tools. */
export function listenToKeys() {
  for (const tool of desk.tools) {
    if (tool.key && tool.available) keys[tool.key] = () => choose(tool);
    Object.assign(keys, tool.keys);
  }
  document.addEventListener("keydown", key);
  document.addEventListener("keyup", (event) => { if (event.key === " " && desk.space) releaseSpace(); });
  window.addEventListener("blur", () => { desk.space = null; showGrip(); });
}

/** Space moves the image while it is held, and acts at the cursor if nothing was moved. */
function releaseSpace() {
  const { moved } = desk.space;
  desk.space = null;
  showGrip();
  if (!moved) actAtCursor();
}

function showGrip() { $("canvas").style.cursor = desk.space ? "grab" : desk.tool.cursor; }

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
  if (steps[event.key] && !(field && ["range", "select-one"].includes(field.type))) {
    event.preventDefault();
    const bar = event.target.closest("[role=toolbar]");
    if (bar) moveFocus(bar, event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : -1);
    else moveCursor(steps[event.key], event.shiftKey ? 10 : 1);
    return;
  }
  if (field && [" ", "Enter"].includes(event.key) && field.type !== "range") return;
  if (event.key === " ") {
    event.preventDefault();
    if (!event.repeat) desk.space = { moved: false };
    showGrip();
    return;
  }
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

/** Go to the next button of a toolbar. */
function moveFocus(bar, step) {
  const buttons = [...bar.querySelectorAll("button:not([disabled], [hidden])")].filter((one) => one.offsetParent);
  buttons.at((buttons.indexOf(document.activeElement) + step) % buttons.length)?.focus();
}

function actAtCursor() {
  const at = desk.cursor ?? desk.hover;
  if (at && !desk.locked) desk.tool.act(at);
}
