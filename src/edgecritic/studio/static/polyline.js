// A line that is made press by press, and ended by Enter, a double click or another tool.

import { commit } from "./commit.js";
import { ring } from "./decorate.js";
import { desk } from "./desk.js";
import { MOST_POINTS, line } from "./fold.js";
import { showNumbers } from "./tell.js";
import { Tool } from "./tool.js";

/** Tell whether a pointer has moved enough since it was pressed to mean a stroke. */
export const isFar = (first, now) => Math.hypot(now.clientX - first.clientX, now.clientY - first.clientY) > 6;

/** Draw pixels x, y, x, y, … of a line that is no edit yet. */
export function dots(context, { scale, x, y }, path) {
  const size = Math.max(scale, 2);
  context.fillStyle = "#00c9e6";
  for (let i = 0; i < path.length; i += 2) context.fillRect(x + path[i] * scale, y + path[i + 1] * scale, size, size);
}

/** A tool whose presses continue a line; `extend(x, y)` of a subclass appends to `points`. */
export class Polyline extends Tool {
  lines = true;
  points = [];
  lengths = [];
  pressed = false;

  begin() { this.pressed = true; }
  end(pixel, event) {
    if (this.pressed && !(event?.detail > 1)) this.add(pixel);
    this.pressed = false;
  }
  cancel() { this.pressed = false; }
  hover() { if (this.points.length) desk.view.invalidate(); }

  add(pixel) {
    const before = this.points.length;
    this.extend(...desk.view.clamp(pixel));
    if (this.points.length > before) this.lengths.push(before);
    if (this.points.length > 2 * MOST_POINTS) this.finish();
    this.changed();
  }

  get pending() { return this.points.length > 0; }

  back() {
    if (!this.pending) return false;
    this.points.length = this.lengths.pop() ?? 0;
    this.changed();
    return true;
  }

  finish() {
    const { points } = this;
    this.discard();
    if (points.length) commit({ op: "draw", data: { points } });
  }

  discard() { this.points = []; this.lengths = []; this.changed(); }

  /** Show the line, and keep it: it is no edit before it ends. */
  changed() {
    desk.view.invalidate();
    desk.sync?.kept.set({ line: this.pending ? { tool: this.name, points: this.points, lengths: this.lengths } : null });
    showNumbers();
  }

  /** Go on with a line that was kept. */
  restore({ points, lengths }) {
    Object.assign(this, { points, lengths });
    this.changed();
  }

  /** The pixels from the last corner to the pointer, x, y, x, y, …: what the next press would add. */
  preview(_at) { return []; }

  draw(context, view, at) {
    if (!this.pending) return;
    const { scale, x, y, ratio } = view, { points } = this, [ax, ay] = points.slice(-2);
    const path = [...points.slice(0, 2), ...this.preview(at)];
    for (let i = 2; i < points.length; i += 2) line(...points.slice(i - 2, i + 2), (px, py) => path.push(px, py));
    dots(context, view, path);
    ring(context, x + (ax + 0.5) * scale, y + (ay + 0.5) * scale, Math.max(4, scale) * ratio);
  }
}
