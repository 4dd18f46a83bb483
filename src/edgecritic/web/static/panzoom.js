// A picture on a canvas that can be moved and zoomed by wheel, fingers and keys; edge pixels stay visible at every zoom.

const LEAST = 0.02, MOST = 32, STEP = 40, MARGIN = 40;

export class PanZoom {
  /** `unit` is the size of a pixel along x and y, 1 by 1 unless voxels are longer in one direction. */
  constructor(canvas, width, height, unit = [1, 1]) {
    Object.assign(this, { canvas, width, height, unit });
    this.context = canvas.getContext("2d", { alpha: false });
    this.scale = 1; this.x = 0; this.y = 0; this.ratio = 1;
    this.held = new Map();
    this.scratch = new OffscreenCanvas(1, 1);
    this.watch();
  }

  /** Whether there is something to draw. */
  get drawable() { return true; }

  /** Called whenever scale or place have changed. */
  moved() { this.invalidate(); }

  draw() { throw new Error("draw is not written"); }

  watch() {
    const { canvas } = this;
    new ResizeObserver(() => { if (this.drawable) this.resize(); }).observe(canvas);
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), ...this.place(event)); }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); this.held.set(event.pointerId, this.place(event)); });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.held.delete(event.pointerId));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  drag(event) {
    const before = this.held.get(event.pointerId), now = this.place(event);
    if (!before) return;
    this.held.set(event.pointerId, now);
    if (this.held.size === 2) {
      const [other] = [...this.held.entries()].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const far = (at) => Math.max(1, Math.hypot(at[0] - other[0], at[1] - other[1]));
      this.zoom(far(now) / far(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else this.pan(now[0] - before[0], now[1] - before[1]);
  }

  key(event) {
    const steps = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps[event.key]) this.pan(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }

  /** Return the place of a pointer in pixels of the canvas. */
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio];
  }

  /** Size of a pixel of the picture on the canvas. */
  get size() { return [this.scale * this.unit[0], this.scale * this.unit[1]]; }

  resize() {
    this.ratio = window.devicePixelRatio || 1;
    const box = this.canvas.getBoundingClientRect();
    this.canvas.width = Math.max(1, Math.round(box.width * this.ratio));
    this.canvas.height = Math.max(1, Math.round(box.height * this.ratio));
    this.invalidate();
  }

  fit() {
    const wide = this.width * this.unit[0], high = this.height * this.unit[1];
    this.scale = Math.min(MOST, Math.max(LEAST, Math.min(this.canvas.width / wide, this.canvas.height / high)));
    this.x = Math.round((this.canvas.width - wide * this.scale) / 2);
    this.y = Math.round((this.canvas.height - high * this.scale) / 2);
    this.moved();
  }

  zoom(factor, px = this.canvas.width / 2, py = this.canvas.height / 2) {
    const next = Math.min(MOST, Math.max(LEAST, this.scale * factor)), by = next / this.scale;
    this.x = Math.round(px - (px - this.x) * by);
    this.y = Math.round(py - (py - this.y) * by);
    this.scale = next;
    this.pan(0, 0);
  }

  pan(dx, dy) {
    const [sx, sy] = this.size;
    this.x = Math.min(this.canvas.width - MARGIN, Math.max(MARGIN - this.width * sx, this.x + dx));
    this.y = Math.min(this.canvas.height - MARGIN, Math.max(MARGIN - this.height * sy, this.y + dy));
    this.moved();
  }

  invalidate() {
    if (this.asked || !this.drawable) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); });
  }

  /** Draw over the canvas the pixels for which `paint` calls `put(column, line, colour)`, with colours 0xAABBGGRR. */
  overlay(paint) {
    const { width, height } = this.canvas;
    if (this.over?.width !== width || this.over.height !== height) {
      Object.assign(this.scratch, { width, height });
      this.over = new ImageData(width, height);
    }
    const screen = new Uint32Array(this.over.data.buffer);
    screen.fill(0);
    paint(painter(screen, width, height, this));
    this.scratch.getContext("2d").putImageData(this.over, 0, 0);
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.drawImage(this.scratch, 0, 0);
  }
}

/** Return a function that colours a pixel of the picture: all of its square, and at least one pixel of the screen. */
function painter(screen, wide, high, view) {
  const [sx, sy] = view.size, [lefts, rights] = edges(view.x, sx, view.width, wide), [tops, lows] = edges(view.y, sy, view.height, high);
  return (column, line, colour) => {
    const left = lefts[column], right = rights[column], low = lows[line];
    for (let row = tops[line]; row < low; row++) {
      for (let to = row * wide + left, end = row * wide + right; to < end; to++) screen[to] = colour;
    }
  };
}

/** Return where every column (or line) of a picture begins and ends on a screen of `most` pixels. */
function edges(from, size, many, most) {
  const begins = new Int32Array(many), ends = new Int32Array(many);
  for (let at = 0; at < many; at++) {
    const begin = Math.floor(from + at * size);
    begins[at] = Math.max(0, begin);
    ends[at] = Math.min(most, Math.max(begin + 1, Math.floor(from + (at + 1) * size)));
  }
  return [begins, ends];
}

/** Return #rrggbb as 0xAABBGGRR. */
export function abgr(text, alpha = 255) {
  const value = Number.parseInt(text.slice(1), 16);
  return ((alpha << 24) | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}
