// The live-wire: from press to press along strong gradients.

import { desk } from "../desk.js";
import { LiveWire } from "../livewire.js";
import { Polyline } from "../polyline.js";

class Wire extends Polyline {
  name = "wire"; label = "Wire"; title = "Live-wire: follows the gradient"; key = "l";
  icon = "M3 17c3 0 3-8 7-8s3 6 6 6 3-9 5-9M7 4l1.500 3L12 8.500 8.500 10 7 13 5.500 10 2 8.500 5.500 7z";
  hint = "Click on an edge, move along it, click again. Enter ends the line.";
  search = null;
  found = [];

  get paths() {
    const { levels, width, height } = desk.state;
    return (this.search ??= new LiveWire(desk.gradient, levels, width, height));
  }

  extend(x, y) {
    if (!this.pending) { this.points.push(x, y); return; }
    const to = this.paths.clamp(x, y);
    this.paths.reach(...to, 2000);
    this.points.push(...this.paths.path(...to).slice(2));
  }

  changed() {
    this.found = [];
    if (this.pending) this.paths.start(...this.points.slice(-2));
    super.changed();
  }

  hover() {
    if (!this.pending || !desk.hover) return;
    const to = this.paths.clamp(...desk.view.clamp(desk.hover));
    if (this.paths.reach(...to, 8)) this.found = this.paths.path(...to);
    else requestAnimationFrame(() => this.hover());
    desk.view.invalidate();
  }

  preview() { return this.found; }
}

export const wire = new Wire();
