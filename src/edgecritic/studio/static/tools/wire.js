// The live-wire: from press to press along strong gradients.

import { commit } from "../commit.js";
import { $, desk } from "../desk.js";
import { check } from "../fields.js";
import { MOST_POINTS } from "../fold.js";
import { LiveWire } from "../livewire.js";
import { Polyline, dots, isFar } from "../polyline.js";
import { remember, setting } from "../prefs.js";
import { Trail } from "../trail.js";

const REACH = 320;

class Wire extends Polyline {
  name = "wire"; label = "Wire"; title = "Live-wire: follows the gradient"; key = "l";
  icon = "M3 17c3 0 3-8 7-8s3 6 6 6 3-9 5-9M7 4l1.500 3L12 8.500 8.500 10 7 13 5.500 10 2 8.500 5.500 7z";
  hint = "Drag along an edge. Or click on it, move along, click again; Enter ends the line.";
  keys = { s: () => $("snap").click() };
  help = [[["S"], "anchors of the wire snap to edges; Shift: not this one"]];
  search = null;
  found = [];
  from = null;
  trail = null;

  get paths() {
    const { levels, width, height } = desk.state;
    return (this.search ??= new LiveWire(desk.gradient, levels, width, height));
  }

  options() {
    const field = check("snap to edges", { id: "snap", key: "S", checked: setting("snap", true) });
    field.addEventListener("change", () => remember("snap", $("snap").checked));
    return [field];
  }

  begin(pixel, event) { super.begin(pixel, event); this.from = { pixel, event }; }

  /** A drag follows the edge beside it; what is around it is loaded first. */
  move(pixels, event) {
    const { view, state, gradient, gradientTiles } = desk;
    if (!this.trail && this.pressed && !this.pending && isFar(this.from.event, event)) {
      const reach = Math.max(4, Math.min(24, Math.round((12 * view.ratio) / view.scale)));
      this.trail = new Trail(gradient, state, this.meant(this.from.pixel, event), reach);
    }
    if (!this.trail) return;
    for (const pixel of pixels) {
      const [x, y] = view.clamp(pixel);
      gradientTiles?.box([...view.clamp([x - 99, y - 99]), ...view.clamp([x + 99, y + 99])]);
      this.trail.follow([x, y], (at) => this.meant(at, event));
    }
    view.invalidate();
  }

  /** A press of the pointer means the edge beside it; the cursor of the keyboard and Shift mean their pixel. */
  meant(pixel, event) { return event && !event.shiftKey && $("snap").checked ? snapped(desk.view.clamp(pixel)) : pixel; }

  end(pixel, event) {
    if (!this.trail) { super.end(this.meant(pixel, event), event); return; }
    const { points } = this.trail;
    this.trail = null;
    this.pressed = false;
    for (let at = 0; at < points.length - 2; at += 2 * MOST_POINTS) commit({ op: "draw", data: { points: points.slice(at, at + 2 * MOST_POINTS + 2) } });
  }

  cancel() { super.cancel(); this.trail = null; }

  draw(context, view, at) {
    if (this.trail) dots(context, view, this.trail.points);
    else super.draw(context, view, at);
  }

  extend(x, y) {
    if (!this.pending) { this.points.push(x, y); return; }
    const to = this.paths.clamp(x, y);
    this.paths.reach(...to, 2000);
    this.points.push(...this.paths.path(...to).slice(2));
  }

  changed() {
    this.found = [];
    if (this.pending) this.startHere();
    super.changed();
  }

  /** Search from the last anchor; of a large image what is around it is loaded first. */
  startHere() {
    const [x, y] = this.points.slice(-2), { view, gradientTiles } = desk, near = [...view.clamp([x - REACH, y - REACH]), ...view.clamp([x + REACH, y + REACH])];
    this.paths.start(x, y);
    if (gradientTiles && !gradientTiles.has(near)) gradientTiles.box(near).then(() => { if (this.points.at(-2) === x && this.points.at(-1) === y) this.paths.start(x, y); });
  }

  hover() {
    if (!this.pending || !desk.hover) return;
    const at = desk.view.clamp(desk.hover), to = this.paths.clamp(...(desk.cursor || !$("snap").checked ? at : snapped(at)));
    if (this.paths.reach(...to, 8)) this.found = this.paths.path(...to);
    else requestAnimationFrame(() => this.hover());
    desk.view.invalidate();
  }

  preview() { return this.found; }
}

/** Return the best crest near a pixel, at most about 9 screen pixels away: strong, and not far. */
export function snapped([x, y]) {
  const { view, state, gradient } = desk, reach = Math.max(1, Math.min(9, Math.round((9 * view.ratio) / view.scale)));
  let best = [x, y], most = -Infinity;
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const px = x + dx, py = y + dy, far = dx * dx + dy * dy;
      if (far > reach * reach || px < 0 || py < 0 || px >= state.width || py >= state.height) continue;
      const at = py * state.width + px;
      if (!state.levels[at] && !state.isOn(at)) continue;
      const worth = Math.max(gradient[at], state.isOn(at) ? 255 : 0) - (160 * Math.sqrt(far)) / (reach + 1);
      if (worth > most) { most = worth; best = [px, py]; }
    }
  }
  return best;
}

export const wire = new Wire();
