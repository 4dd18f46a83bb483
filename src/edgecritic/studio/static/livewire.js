// Live-wire: the cheapest path along strong gradients from an anchor, found step by step.

const WINDOW = 320;
const STEPS = [[1, 0, 5], [-1, 0, 5], [0, 1, 5], [0, -1, 5], [1, 1, 7], [1, -1, 7], [-1, 1, 7], [-1, -1, 7]];
const BUCKETS = 4096;

export class LiveWire {
  /** gradient and levels hold one byte per pixel; crests of the proposal are cheapest. */
  constructor(gradient, levels, width, height) {
    this.gradient = gradient;
    this.levels = levels;
    this.width = width;
    this.height = height;
    this.anchor = null;
  }

  /** Begin at an anchor; paths stay in a box, and `more(x, y)` makes its pixels costlier, by 0 to 110. */
  start(x, y, [x0, y0, x1, y1] = [x - WINDOW, y - WINDOW, x + WINDOW, y + WINDOW], more = null) {
    this.anchor = [x, y];
    this.left = Math.max(0, x0);
    this.top = Math.max(0, y0);
    this.columns = Math.min(this.width, x1 + 1) - this.left;
    this.rows = Math.min(this.height, y1 + 1) - this.top;
    const size = this.columns * this.rows;
    this.cost = new Uint8Array(size);
    for (let row = 0, to = 0; row < this.rows; row++) {
      for (let at = (this.top + row) * this.width + this.left, end = at + this.columns; at < end; at++, to++) {
        const weak = 255 - this.gradient[at];
        const cost = this.levels[at] > 0 ? 1 + (weak >> 3) : 12 + (weak >> 1);
        this.cost[to] = more ? cost + more(this.left + to % this.columns, this.top + row) : cost;
      }
    }
    this.distance = new Int32Array(size).fill(0x7fffffff);
    this.from = new Int32Array(size).fill(-1);
    this.settled = new Uint8Array(size);
    this.buckets = Array.from({ length: BUCKETS }, () => []);
    this.current = 0;
    this.waiting = 1;
    const at = this.place(x, y);
    this.distance[at] = 0;
    this.buckets[0].push(at);
  }

  place(x, y) { return (y - this.top) * this.columns + (x - this.left); }

  clamp(x, y) {
    return [
      Math.min(Math.max(x, this.left), this.left + this.columns - 1),
      Math.min(Math.max(y, this.top), this.top + this.rows - 1),
    ];
  }

  /** Search until (x, y) is reached or the time is over; tell whether it was reached. */
  reach(x, y, milliseconds) {
    const target = this.place(x, y), end = performance.now() + milliseconds;
    let turns = 0;
    while (!this.settled[target] && this.waiting > 0) {
      const bucket = this.buckets[this.current % BUCKETS];
      if (!bucket.length) { this.current++; continue; }
      const at = bucket.pop();
      this.waiting--;
      if (this.settled[at]) continue;
      this.settled[at] = 1;
      this.expand(at);
      if ((++turns & 1023) === 0 && performance.now() > end) return false;
    }
    return this.settled[target] === 1;
  }

  expand(at) {
    const column = at % this.columns, row = (at / this.columns) | 0;
    for (const [dx, dy, length] of STEPS) {
      const x = column + dx, y = row + dy;
      if (x < 0 || y < 0 || x >= this.columns || y >= this.rows) continue;
      const next = y * this.columns + x;
      if (this.settled[next]) continue;
      const far = this.distance[at] + length * this.cost[next];
      if (far < this.distance[next]) {
        this.distance[next] = far;
        this.from[next] = at;
        this.buckets[far % BUCKETS].push(next);
        this.waiting++;
      }
    }
  }

  /** Return x, y, x, y, … from the anchor to (x, y), which was reached. */
  path(x, y) {
    const points = [];
    for (let at = this.place(x, y); at >= 0; at = this.from[at]) {
      points.push((at % this.columns) + this.left, ((at / this.columns) | 0) + this.top);
    }
    const forward = [];
    for (let i = points.length - 2; i >= 0; i -= 2) forward.push(points[i], points[i + 1]);
    return forward;
  }
}
