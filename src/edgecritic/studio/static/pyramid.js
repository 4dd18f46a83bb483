// The map at 1/2, 1/4, 1/8, … of its size: of each four pixels the strongest, so that thin lines stay visible at every zoom.

import { ADDED, FREE } from "./fold.js";

const SMALLEST = 256;

export class Pyramid {
  /** Level k has `free`, the strongest proposed pixel without a mark of each block, and `added`, whether one was added. */
  constructor(state) {
    this.state = state;
    this.levels = [null];
    for (let { width, height } = state; Math.max(width, height) > SMALLEST;) {
      width = (width + 1) >> 1;
      height = (height + 1) >> 1;
      this.levels.push({ width, height, free: new Uint8Array(width * height), added: new Uint8Array(width * height) });
    }
  }

  get top() { return this.levels.length - 1; }

  /** Return the level whose pixels are at least as large as those of the screen. */
  levelFor(scale) { return scale >= 1 ? 0 : Math.min(this.top, Math.ceil(Math.log2(1 / scale) - 1e-9)); }

  /** Take over what has changed in a box of the map. */
  update([x0, y0, x1, y1]) {
    let box = [x0, y0, x1, y1];
    for (let k = 1; k < this.levels.length; k++) {
      box = box.map((value) => value >> 1);
      if (k === 1) this.first(box);
      else this.next(k, box);
      this.mark(k, box);
    }
  }

  /** Take over the classes of a box of level k, given in its own pixels: those of all pixels of a block. */
  mark(k, [x0, y0, x1, y1]) {
    const to = this.levels[k], from = k === 1 ? { ...this.state, layer: this.state.layers } : this.levels[k - 1];
    if (!from.layer) { to.layer = null; return; }
    to.layer ??= new Uint8Array(to.width * to.height);
    const { layer, width, height } = from;
    for (let y = y0; y <= y1; y++) {
      const low = Math.min(2 * y + 1, height - 1) * width, high = 2 * y * width;
      for (let x = x0; x <= x1; x++) {
        const right = Math.min(2 * x + 1, width - 1), left = 2 * x;
        to.layer[y * to.width + x] = layer[high + left] | layer[high + right] | layer[low + left] | layer[low + right];
      }
    }
  }

  first([x0, y0, x1, y1]) {
    const { marks, levels, width, height } = this.state, to = this.levels[1];
    for (let y = y0; y <= y1; y++) {
      const low = Math.min(2 * y + 1, height - 1) * width, high = 2 * y * width;
      for (let x = x0; x <= x1; x++) {
        const right = Math.min(2 * x + 1, width - 1), left = 2 * x;
        const a = high + left, b = high + right, c = low + left, d = low + right;
        const ma = marks[a], mb = marks[b], mc = marks[c], md = marks[d];
        let free = 0, added = 0;
        if ((ma | mb | mc | md) === FREE) free = Math.max(levels[a], levels[b], levels[c], levels[d]);
        else {
          added = ma === ADDED || mb === ADDED || mc === ADDED || md === ADDED ? 1 : 0;
          free = Math.max(ma === FREE ? levels[a] : 0, mb === FREE ? levels[b] : 0, mc === FREE ? levels[c] : 0, md === FREE ? levels[d] : 0);
        }
        to.free[y * to.width + x] = free;
        to.added[y * to.width + x] = added;
      }
    }
  }

  next(k, [x0, y0, x1, y1]) {
    const from = this.levels[k - 1], to = this.levels[k], { free, added, width, height } = from;
    for (let y = y0; y <= y1; y++) {
      const low = Math.min(2 * y + 1, height - 1) * width, high = 2 * y * width;
      for (let x = x0; x <= x1; x++) {
        const right = Math.min(2 * x + 1, width - 1), left = 2 * x;
        const a = high + left, b = high + right, c = low + left, d = low + right;
        to.free[y * to.width + x] = Math.max(free[a], free[b], free[c], free[d]);
        to.added[y * to.width + x] = added[a] | added[b] | added[c] | added[d];
      }
    }
  }

  /** Show a small picture of the proposal until the proposal is there. */
  begin(k, values) {
    this.levels[k].free.set(values);
    for (let up = k + 1; up < this.levels.length; up++) this.next(up, [0, 0, this.levels[up].width - 1, this.levels[up].height - 1]);
  }

  /** Write the colours of a box of level k, given in its own pixels, into a buffer of its size; `classes` are those of sets of classes. */
  paint(k, box, colours, proposal, added, classes = null) {
    this.paintEdges(k, box, colours, proposal, added);
    const layer = k === 0 ? this.state.layers : this.levels[k].layer, width = k === 0 ? this.state.width : this.levels[k].width, [x0, y0, x1, y1] = box;
    if (!layer || !classes) return;
    for (let y = y0, to = 0; y <= y1; y++) {
      for (let at = y * width + x0, end = y * width + x1; at <= end; at++, to++) if (layer[at] && colours[to]) colours[to] = classes[layer[at]];
    }
  }

  paintEdges(k, [x0, y0, x1, y1], colours, proposal, added) {
    const { marks, levels, threshold, width } = this.state, least = Math.max(1, threshold);
    let to = 0;
    if (k === 0) {
      for (let y = y0; y <= y1; y++) {
        for (let at = y * width + x0, end = y * width + x1; at <= end; at++, to++) {
          const mark = marks[at];
          colours[to] = mark === FREE ? (levels[at] >= least ? proposal : 0) : mark === ADDED ? added : 0;
        }
      }
      return;
    }
    const level = this.levels[k];
    for (let y = y0; y <= y1; y++) {
      for (let at = y * level.width + x0, end = y * level.width + x1; at <= end; at++, to++) {
        colours[to] = level.added[at] ? added : level.free[at] >= least ? proposal : 0;
      }
    }
  }
}
