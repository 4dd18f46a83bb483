// Draw: straight lines from corner to corner, or freely as the pointer goes.

import { desk } from "../desk.js";
import { ADDED, MOST_STEPS, line, stepsOf } from "../fold.js";
import { Polyline, isFar } from "../polyline.js";
import { Stroke } from "../stroke.js";

class Draw extends Polyline {
  name = "draw"; label = "Draw"; title = "Draw"; key = "p";
  icon = "M4 19l5-9 6 4 5-9M4 19h.01M9 10h.01M15 14h.01M20 5h.01";
  hint = "Click corner after corner, Enter ends the line. Or just draw.";
  stroke = null;
  from = null;

  begin(pixel, event) { super.begin(pixel, event); this.from = { pixel, event }; }

  move(pixels, event) {
    if (!this.stroke && this.pressed && !this.pending && isFar(this.from.event, event)) {
      this.stroke = new Stroke(this.from.pixel, {
        touch: (patch, ...ends) => line(...ends, (x, y) => desk.state.set(patch, x, y, ADDED)),
        edit: (points) => ({ op: "draw", data: { points } }),
      });
    }
    if (this.stroke) for (const pixel of pixels) this.stroke.extend(pixel);
  }

  end(pixel, event) {
    if (!this.stroke) { super.end(pixel, event); return; }
    this.stroke.end();
    this.stroke = null;
    this.pressed = false;
  }

  cancel() { super.cancel(); this.stroke?.drop(); this.stroke = null; }

  extend(x, y) {
    const corner = this.points.slice(-2);
    if (stepsOf([...this.points, x, y]) > MOST_STEPS) { this.finish(); this.points = corner; }
    this.points.push(x, y);
  }

  preview(at) {
    const path = [];
    if (at) line(...this.points.slice(-2), ...desk.view.clamp(at), (x, y) => path.push(x, y));
    return path;
  }
}

export const draw = new Draw();
