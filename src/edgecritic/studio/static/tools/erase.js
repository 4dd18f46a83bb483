// The eraser: a disk along a stroke.

import { ring } from "../decorate.js";
import { $, desk } from "../desk.js";
import { discSpans } from "../fold.js";
import { slider } from "../fields.js";
import { remember, setting } from "../prefs.js";
import { Stroke } from "../stroke.js";
import { Tool } from "../tool.js";

class Erase extends Tool {
  name = "erase"; label = "Erase"; title = "Eraser"; key = "e"; cursor = "none";
  icon = "M4 15l9-9a2 2 0 0 1 3 0l4 4a2 2 0 0 1 0 3l-7 7H9zM8.500 10.500l6 6M5 21h15";
  hint = "Drag to erase.";
  keys = { "[": () => this.resize(this.radius - 1), "]": () => this.resize(this.radius + 1) };
  help = [[["[", "]"], "smaller, larger eraser"]];
  radius = Math.min(64, Math.max(0, setting("radius", 6)));
  stroke = null;

  options() {
    return [slider("Eraser", { id: "radius", min: 0, max: 64, value: this.radius, keys: "[ ]", input: (value) => this.resize(value) })];
  }

  resize(value) {
    this.radius = Math.min(64, Math.max(0, value));
    remember("radius", this.radius);
    desk.view.invalidate();
    this.show();
  }

  show() {
    $("radius").value = this.radius;
    $("radius-text").textContent = `${2 * this.radius + 1} px`;
  }

  begin(pixel) {
    const { radius } = this, spans = discSpans(radius);
    this.stroke = new Stroke(pixel, {
      touch: (patch, x, y) => desk.state.dab(patch, x, y, spans),
      edit: (points) => ({ op: "erase", data: { radius, points } }),
      reach: radius,
    });
  }
  move(pixels) { for (const pixel of pixels) this.stroke?.extend(pixel); }
  end() { this.stroke?.end(); this.stroke = null; }
  cancel() { this.stroke?.drop(); this.stroke = null; }

  hover(before) { this.mark(before); this.mark(desk.hover); }

  mark(pixel) {
    if (!pixel) return;
    const more = this.radius + 2 + Math.ceil(3 / desk.view.scale);
    desk.view.invalidate([pixel[0] - more, pixel[1] - more, pixel[0] + more, pixel[1] + more]);
  }

  draw(context, { scale, x, y }, at) {
    if (at) ring(context, x + (at[0] + 0.5) * scale, y + (at[1] + 0.5) * scale, (this.radius + 0.5) * scale);
  }
}

export const erase = new Erase();
