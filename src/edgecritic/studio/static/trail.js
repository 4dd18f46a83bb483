// A hand that follows an edge: the line it means is the cheapest path beside it, found piece by piece.

import { LiveWire } from "./livewire.js";

const PIECE = 48, PULL = 5, MOST_PULL = 110;

export class Trail {
  /** The hand is at most about `reach` pixels beside the edge. */
  constructor(gradient, state, [x, y], reach) {
    this.search = new LiveWire(gradient, state.levels, state.width, state.height);
    this.reach = reach;
    this.fixed = [x, y];
    this.hand = [[x, y]];
    this.path = [x, y];
  }

  /** Follow the hand to a pixel; `snap` says where the edge is that it means. */
  follow([x, y], snap) {
    const last = this.hand.at(-1);
    if (last[0] === x && last[1] === y) return;
    this.hand.push([x, y]);
    this.path = this.best(snap([x, y]));
    if (this.path.length >= 2 * PIECE) this.fix(2 * Math.floor(this.path.length / 4));
  }

  /** All points so far, x, y, x, y, … */
  get points() { return [...this.fixed, ...this.path.slice(2)]; }

  /** The first part of the path will not change any more: the hand is far beyond it. */
  fix(count) {
    this.fixed.push(...this.path.slice(2, count));
    const [x, y] = this.fixed.slice(-2);
    let near = 0, least = Infinity;
    this.hand.forEach(([hx, hy], at) => {
      const far = (hx - x) ** 2 + (hy - y) ** 2;
      if (far < least) { least = far; near = at; }
    });
    this.hand = this.hand.slice(near);
    this.path = this.path.slice(count - 2);
  }

  /** The cheapest path from what is fixed to a pixel; the farther from the hand, the costlier. */
  best([x, y]) {
    const [ax, ay] = this.fixed.slice(-2), { hand, reach } = this, xs = [ax, x, ...hand.map((at) => at[0])], ys = [ay, y, ...hand.map((at) => at[1])];
    const box = [Math.min(...xs) - reach, Math.min(...ys) - reach, Math.max(...xs) + reach, Math.max(...ys) + reach];
    this.search.start(ax, ay, box, (px, py) => Math.min(MOST_PULL, Math.round(PULL * far(hand, px, py))));
    const to = this.search.clamp(x, y);
    this.search.reach(...to, 100);
    return this.search.path(...to);
  }
}

/** The distance of a pixel from a line through points. */
function far(points, x, y) {
  let least = Infinity;
  for (let i = Math.min(1, points.length - 1); i < points.length; i++) {
    const [bx, by] = points[i], [ax, ay] = points[Math.max(0, i - 1)], dx = bx - ax, dy = by - ay;
    const along = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
    least = Math.min(least, (ax + along * dx - x) ** 2 + (ay + along * dy - y) ** 2);
  }
  return Math.sqrt(least);
}
