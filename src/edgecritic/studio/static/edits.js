// Edits: lines corner by corner, the live-wire, deleting, undo.

import { $, desk } from "./desk.js";
import { MOST_POINTS, MOST_STEPS, stepsOf } from "./fold.js";
import { say, showNumbers } from "./tell.js";

export function commit(edit, patch = null) {
  if (desk.finished) return;
  const box = desk.history.push(edit, patch);
  if (box && !patch) desk.view.refresh(box);
  desk.sync.push(edit);
  showNumbers();
}

export function undo() {
  if (desk.points.length) { desk.points.splice(-2); rewire(); return; }
  if (desk.history.done.length) commit({ op: "undo", data: {} });
}

export function redo() { if (desk.history.undone.length) commit({ op: "redo", data: {} }); }

export function finishLine() {
  if (desk.points.length >= 2) {
    const made = desk.points;
    desk.points = []; desk.preview = [];
    commit({ op: "draw", data: { points: made } });
  }
  cancelLine();
}

export function cancelLine() { desk.points = []; desk.preview = []; desk.wire.anchor = null; desk.view.invalidate(); showNumbers(); }

export function addVertex(pixel) {
  const [x, y] = desk.view.clamp(pixel);
  if (desk.tool === "wire") {
    if (!desk.points.length) desk.points = [x, y];
    else {
      const [tx, ty] = desk.wire.clamp(x, y);
      desk.wire.reach(tx, ty, 2000);
      desk.points.push(...desk.wire.path(tx, ty).slice(2));
    }
    rewire();
  } else {
    const corner = desk.points.slice(-2);
    if (stepsOf([...desk.points, x, y]) > MOST_STEPS) { finishLine(); desk.points = corner; }
    desk.points.push(x, y);
  }
  if (desk.points.length > 2 * MOST_POINTS) finishLine();
  desk.view.invalidate();
  showNumbers();
}

function rewire() {
  desk.preview = [];
  if (desk.tool === "wire" && desk.points.length) desk.wire.start(desk.points.at(-2), desk.points.at(-1));
  else desk.wire.anchor = null;
  desk.view.invalidate();
}

export function followWire() {
  if (desk.tool !== "wire" || !desk.wire.anchor || !desk.hover) return;
  const [x, y] = desk.wire.clamp(...desk.view.clamp(desk.hover));
  if (desk.wire.reach(x, y, 8)) desk.preview = desk.wire.path(x, y);
  else requestAnimationFrame(followWire);
  desk.view.invalidate();
}

export function deleteAt(pixel) {
  const near = nearest(desk.view.clamp(pixel));
  if (!near) { say("There is no edge here."); return; }
  commit({ op: "delete", data: { at: near, scope: $("scope").checked ? "segment" : "component" } });
}

/** Return the edge pixel next to a place, at most about 8 screen pixels away. */
function nearest([x, y]) {
  const reach = Math.max(1, Math.min(12, Math.round((8 * desk.view.ratio) / desk.view.scale)));
  let best = null, least = reach * reach + 1;
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const far = dx * dx + dy * dy;
      if (far < least && desk.state.on(x + dx, y + dy)) { least = far; best = [x + dx, y + dy]; }
    }
  }
  return best;
}
