// Strokes of the eraser and of free drawing: shown while they grow, one edit when they end.

import { desk } from "./desk.js";
import { commit } from "./edits.js";
import { ADDED, MOST_POINTS, MOST_STEPS, discSpans, line, stepsOf } from "./fold.js";

export function beginStroke(pixel) {
  const [x, y] = desk.view.clamp(pixel);
  const op = desk.tool === "erase" ? "erase" : "draw";
  desk.stroke = { op, points: [x, y], patch: desk.state.apply({ op: "none", data: {} }), spans: discSpans(desk.radius), radius: desk.radius, steps: 0 };
  touch(desk.stroke, x, y);
  refreshAround(x, y, x, y);
}

export function extendStroke(pixel) {
  const [x, y] = desk.view.clamp(pixel), from = desk.stroke.points.slice(-2);
  if (x === from[0] && y === from[1]) return;
  const steps = stepsOf([...from, x, y]);
  if (desk.stroke.steps + steps > MOST_STEPS) { endStroke(); beginStroke(from); }
  desk.stroke.steps += steps;
  line(from[0], from[1], x, y, (px, py) => touch(desk.stroke, px, py));
  desk.stroke.points.push(x, y);
  refreshAround(Math.min(x, from[0]), Math.min(y, from[1]), Math.max(x, from[0]), Math.max(y, from[1]));
  if (desk.stroke.points.length > 2 * MOST_POINTS) { endStroke(); beginStroke(pixel); }
}

function touch({ op, patch, spans }, x, y) {
  if (op === "erase") desk.state.dab(patch, x, y, spans);
  else desk.state.set(patch, x, y, ADDED);
}

function refreshAround(x0, y0, x1, y1) {
  const more = desk.stroke.op === "erase" ? desk.stroke.radius : 0;
  desk.view.refresh([...desk.view.clamp([x0 - more, y0 - more]), ...desk.view.clamp([x1 + more, y1 + more])]);
}

export function endStroke() {
  if (!desk.stroke) return;
  const { op, points: path, patch, radius: size } = desk.stroke;
  desk.stroke = null;
  commit({ op, data: op === "erase" ? { radius: size, points: path } : { points: path } }, patch);
}

export function dropStroke() {
  if (!desk.stroke) return;
  desk.state.revert(desk.stroke.patch);
  if (desk.stroke.patch.box) desk.view.refresh(desk.stroke.patch.box);
  desk.stroke = null;
}
