// The lasso: removes everything inside a closed line, drawn freely or from corner to corner.

import { commit } from "../commit.js";
import { desk } from "../desk.js";
import { MOST_POINTS, MOST_STEPS, line, stepsOf } from "../fold.js";
import { Polyline, isFar } from "../polyline.js";
import { isLoaded, say } from "../tell.js";

class Lasso extends Polyline {
  name = "lasso"; label = "Lasso"; title = "Delete inside a line"; key = "o";
  icon = "M12 4c5 0 9 2.200 9 5.500S17 15 12 15 3 12.800 3 9.500 7 4 12 4zM7 14c-2 1-2 4 0 4s3 1 2 3";
  hint = "Draw around what is to go, or click corners; Enter closes the line.";
  from = null;
  free = false;

  begin(pixel, event) { super.begin(pixel, event); this.from = { pixel, event }; }

  move(pixels, event) {
    if (!this.free && this.pressed && !this.pending && isFar(this.from.event, event)) {
      this.free = true;
      this.add(this.from.pixel);
    }
    if (this.free) for (const pixel of pixels) this.extend(...desk.view.clamp(pixel));
    if (this.free) desk.view.invalidate();
  }

  end(pixel, event) {
    if (!this.free) { super.end(pixel, event); return; }
    this.free = this.pressed = false;
    this.finish();
    if (this.pending) this.discard();
  }

  cancel() { super.cancel(); if (this.free) { this.free = false; this.discard(); } }

  extend(x, y) {
    const [px, py] = this.points.slice(-2);
    if (px !== x || py !== y) this.points.push(x, y);
  }

  finish() {
    const { points } = this;
    if (!points.length || !isLoaded()) return;
    this.discard();
    if (points.length < 6) return;
    const step = 2 * Math.ceil(points.length / (2 * MOST_POINTS)), kept = [];
    for (let i = 0; i < points.length; i += step) kept.push(points[i], points[i + 1]);
    if (stepsOf(kept) > MOST_STEPS) { say("This line is too long. Divide the region into several."); return; }
    const before = desk.state.count();
    commit({ op: "lasso", data: { points: kept } });
    say(`${(before - desk.state.count()).toLocaleString("en")} pixels removed.`);
  }

  /** Back to the first corner, by way of the pointer. */
  preview(at) {
    const path = [], start = this.points.slice(0, 2), last = this.points.slice(-2), to = at && !this.free ? desk.view.clamp(at) : last;
    line(...last, ...to, (x, y) => path.push(x, y));
    line(...to, ...start, (x, y) => { if ((x + y) % 8 < 4) path.push(x, y); });
    return path;
  }
}

export const lasso = new Lasso();
