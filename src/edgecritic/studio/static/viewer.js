// Maps over the photo: every edge pixel is at least one pixel of the screen, at every zoom; each map can be switched on and off.

import { TiledPhoto, WholePhoto } from "./tiles.js";

const LEAST = 0.02, MOST = 32;

/** A layer is a list of numbers, class·2²⁸ + place of a pixel; its colours are those of its classes. */
class Layer {
  constructor(words, colours) { Object.assign(this, { words, colours }); }

  paint(screen, wide, high, view) {
    const { scale, x, y, width } = view, { words, colours } = this;
    for (const word of words) {
      const at = word & 0xfffffff, column = at % width, line = Math.floor(at / width);
      const px = Math.floor(x + column * scale), py = Math.floor(y + line * scale);
      const right = Math.max(px + 1, Math.floor(x + (column + 1) * scale)), bottom = Math.max(py + 1, Math.floor(y + (line + 1) * scale));
      if (right <= 0 || bottom <= 0 || px >= wide || py >= high) continue;
      const colour = colours[word >>> 28];
      for (let row = Math.max(0, py), low = Math.min(high, bottom); row < low; row++) {
        for (let to = row * wide + Math.max(0, px), end = row * wide + Math.min(wide, right); to < end; to++) screen[to] = colour;
      }
    }
  }
}

class Viewer {
  constructor(root) {
    this.root = root;
    this.canvas = root.querySelector("canvas");
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.width = Number(root.dataset.width);
    this.height = Number(root.dataset.height);
    this.scale = 1; this.x = 0; this.y = 0;
    this.layers = new Map();
    this.scratch = new OffscreenCanvas(1, 1);
    this.held = new Map();
    this.listen();
    this.load();
  }

  async load() {
    const { photo, tiles } = this.root.dataset;
    if (tiles) {
      this.photo = new TiledPhoto(tiles, this.width, this.height);
      this.photo.onLoad = () => this.invalidate();
    } else this.photo = new WholePhoto(await createImageBitmap(await (await fetch(photo)).blob()));
    this.resize();
    this.fit();
    await Promise.all([...this.boxes].filter((box) => box.checked).map((box) => this.toggle(box)));
    this.root.dataset.ready = "yes";
  }

  get boxes() { return this.root.querySelectorAll("input[data-layer]"); }

  async toggle(box) {
    const path = box.dataset.layer;
    if (box.checked && !this.layers.has(path)) {
      const reply = await fetch(path);
      if (!reply.ok) { box.checked = false; return; }
      const colours = (box.dataset.colours ?? "").split(" ").map((text) => abgr(text));
      this.layers.set(path, new Layer(new Uint32Array(await reply.arrayBuffer()), colours));
    }
    this.invalidate();
  }

  listen() {
    const { canvas, root } = this;
    for (const box of this.boxes) {
      box.addEventListener("change", () => {
        if (box.type === "radio") for (const other of this.boxes) if (other !== box && other.type === "radio") this.layers.delete(other.dataset.layer);
        this.toggle(box);
      });
    }
    root.querySelector("[data-photo-shown]").addEventListener("change", () => this.invalidate());
    for (const [name, act] of [["in", () => this.zoom(1.5)], ["out", () => this.zoom(1 / 1.5)], ["fit", () => this.fit()], ["full", () => this.zoom(this.ratio / this.scale)]]) {
      root.querySelector(`[data-view=${name}]`).addEventListener("click", act);
    }
    new ResizeObserver(() => { if (this.photo) this.resize(); }).observe(canvas);
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
    const steps = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    if (steps[event.key]) this.pan(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio];
  }

  resize() {
    this.ratio = window.devicePixelRatio || 1;
    const box = this.canvas.getBoundingClientRect();
    this.canvas.width = Math.max(1, Math.round(box.width * this.ratio));
    this.canvas.height = Math.max(1, Math.round(box.height * this.ratio));
    this.invalidate();
  }

  fit() {
    this.scale = Math.min(MOST, Math.max(LEAST, Math.min(this.canvas.width / this.width, this.canvas.height / this.height)));
    this.x = Math.round((this.canvas.width - this.width * this.scale) / 2);
    this.y = Math.round((this.canvas.height - this.height * this.scale) / 2);
    this.invalidate();
  }

  zoom(factor, px = this.canvas.width / 2, py = this.canvas.height / 2) {
    const next = Math.min(MOST, Math.max(LEAST, this.scale * factor)), by = next / this.scale;
    this.x = Math.round(px - (px - this.x) * by);
    this.y = Math.round(py - (py - this.y) * by);
    this.scale = next;
    this.pan(0, 0);
  }

  pan(dx, dy) {
    const margin = 40;
    this.x = Math.min(this.canvas.width - margin, Math.max(margin - this.width * this.scale, this.x + dx));
    this.y = Math.min(this.canvas.height - margin, Math.max(margin - this.height * this.scale, this.y + dy));
    this.invalidate();
  }

  invalidate() {
    if (this.asked || !this.photo) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); });
  }

  draw() {
    const { context, canvas, scale } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = "#808080";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.setTransform(scale, 0, 0, scale, this.x, this.y);
    context.imageSmoothingEnabled = scale < 1;
    const x0 = Math.max(0, -this.x / scale), y0 = Math.max(0, -this.y / scale);
    const seen = [x0, y0, Math.min(this.width - 1, x0 + canvas.width / scale), Math.min(this.height - 1, y0 + canvas.height / scale)];
    if (this.root.querySelector("[data-photo-shown]").checked) this.photo.draw(context, this, seen);
    else { context.fillStyle = "#ffffff"; context.fillRect(0, 0, this.width, this.height); }
    context.setTransform(1, 0, 0, 1, 0, 0);
    const picture = new ImageData(canvas.width, canvas.height), screen = new Uint32Array(picture.data.buffer);
    for (const box of this.boxes) if (box.checked) this.layers.get(box.dataset.layer)?.paint(screen, canvas.width, canvas.height, this);
    if (this.scratch.width !== canvas.width || this.scratch.height !== canvas.height) { this.scratch.width = canvas.width; this.scratch.height = canvas.height; }
    this.scratch.getContext("2d").putImageData(picture, 0, 0);
    context.drawImage(this.scratch, 0, 0);
    this.root.querySelector("[data-view=fit]").textContent = `${Math.round((100 * scale) / this.ratio)} %`;
  }
}

/** Return #rrggbb as 0xAABBGGRR. */
function abgr(text) {
  const value = Number.parseInt(text.slice(1), 16);
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

for (const root of document.querySelectorAll("[data-viewer]")) root.viewer = new Viewer(root);
