// The keyboard: a key for everything, and a cursor that arrow keys move.

import { actions } from "./actions.js";
import { $, desk } from "./desk.js";
import { addVertex, cancelLine, deleteAt, finishLine, followWire, redo, undo } from "./edits.js";
import { choose, nextColours, setRadius, stepThreshold, zoom } from "./settings.js";
import { beginStroke, dropStroke, endStroke } from "./strokes.js";
import { showPlace } from "./tell.js";

const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const keys = {
  e: () => choose("erase"), d: () => choose("delete"), p: () => choose("line"), l: () => choose("wire"), h: () => choose("pan"),
  "[": () => setRadius(desk.radius - 1), "]": () => setRadius(desk.radius + 1),
  "+": () => zoom((desk.view.scale / desk.view.ratio) * 1.5), "=": () => zoom((desk.view.scale / desk.view.ratio) * 1.5),
  "-": () => zoom(desk.view.scale / desk.view.ratio / 1.5),
  0: () => actions.fit(), 1: () => zoom(1), 2: () => zoom(2), 4: () => zoom(4), 8: () => zoom(8),
  ",": () => stepThreshold(-4), ".": () => stepThreshold(4), "<": () => stepThreshold(-1), ">": () => stepThreshold(1),
  c: () => nextColours(), x: () => actions.despeckle(), m: () => $("show-map").click(), i: () => $("show-photo").click(), j: () => $("scope").click(),
  n: () => document.querySelector("[data-go=after]")?.click(), b: () => document.querySelector("[data-go=before]")?.click(),
  "?": () => $("help").showModal(),
  Enter: () => finishLine(), Escape: () => { dropStroke(); cancelLine(); desk.cursor = null; desk.view.invalidate(); },
  Backspace: () => { if (desk.points.length) undo(); },
  " ": () => actAtCursor(),
};

export function key(event) {
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
  const from = desk.cursor ?? desk.hover ?? [Math.round((desk.view.canvas.width / 2 - desk.view.x) / desk.view.scale), Math.round((desk.view.canvas.height / 2 - desk.view.y) / desk.view.scale)];
  desk.cursor = desk.view.clamp([from[0] + dx * step, from[1] + dy * step]);
  desk.hover = desk.cursor;
  desk.view.showPixel(...desk.cursor);
  followWire();
  showPlace();
  desk.view.invalidate();
}

function actAtCursor() {
  const at = desk.cursor ?? desk.hover;
  if (!at || desk.finished) return;
  if (desk.tool === "erase") { beginStroke(at); endStroke(); }
  else if (desk.tool === "delete") deleteAt(at);
  else if (desk.tool === "line" || desk.tool === "wire") addVertex(at);
}
