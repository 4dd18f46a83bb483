// A brush: a disk along a stroke. All brushes have one size.

import { ring } from "./decorate.js";
import { $, desk } from "./desk.js";
import { discSpans } from "./fold.js";
import { slider } from "./fields.js";
import { remember, setting } from "./prefs.js";
import { Stroke } from "./stroke.js";
import { Tool } from "./tool.js";

const MOST = 64;
let radius = Math.min(MOST, Math.max(0, setting("radius", 6)));

/** The slider of the size. */
export const sizeField = () => slider("Brush", { id: "radius", min: 0, max: MOST, value: radius, keys: "[ ]", input: resize });

export function resize(value) {
  radius = Math.min(MOST, Math.max(0, value));
  remember("radius", radius);
  desk.view.invalidate();
  showSize();
}

export const resizeBy = (step) => resize(radius + step);

export function showSize() {
  $("radius").value = radius;
  $("radius-text").textContent = `${2 * radius + 1} px`;
}

/** A tool whose edits have the name `op` and, besides radius and points, the data of `more()`. */
export class Brush extends Tool {
  cursor = "none";
  op = "erase";
  stroke = null;

  more() { return {}; }

  begin(pixel) {
    const spans = discSpans(radius), size = radius, more = this.more();
    this.stroke = new Stroke(pixel, {
      touch: (patch, ...ends) => desk.state.brush(patch, this.op, more, ...ends, spans),
      edit: (points) => ({ op: this.op, data: { radius: size, points, ...more } }),
      reach: size,
    });
  }
  move(pixels) { for (const pixel of pixels) this.stroke?.extend(pixel); }
  end() { this.stroke?.end(); this.stroke = null; }
  cancel() { this.stroke?.drop(); this.stroke = null; }

  hover(before) { this.mark(before); this.mark(desk.hover); }

  mark(pixel) {
    if (!pixel) return;
    const more = radius + 2 + Math.ceil(3 / desk.view.scale);
    desk.view.invalidate([pixel[0] - more, pixel[1] - more, pixel[0] + more, pixel[1] + more]);
  }

  draw(context, { scale, x, y }, at) {
    if (at) ring(context, x + (at[0] + 0.5) * scale, y + (at[1] + 0.5) * scale, (radius + 0.5) * scale);
  }
}
