// Maps over the photo: every edge pixel is at least one pixel of the screen, at every zoom; each map can be switched on and off.

import { PanZoom, abgr } from "./panzoom.js";
import { drawPin } from "./pins.js";
import { TiledPhoto, WholePhoto } from "./tiles.js";

/** A layer is a list of numbers, class·2²⁸ + place of a pixel; its colours are those of its classes. */
class Layer {
  constructor(words, colours) { Object.assign(this, { words, colours }); }

  paint(put, width) {
    for (const word of this.words) {
      const at = word & 0xfffffff;
      put(at % width, Math.floor(at / width), this.colours[word >>> 28]);
    }
  }
}

class Viewer extends PanZoom {
  constructor(root) {
    super(root.querySelector("canvas"), Number(root.dataset.width), Number(root.dataset.height));
    this.root = root;
    this.layers = new Map();
    this.pins = [];
    this.listen();
    this.load();
  }

  get drawable() { return Boolean(this.photo); }

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
    const { root, canvas } = this;
    canvas.addEventListener("pointerdown", (event) => { this.pressed = [event.clientX, event.clientY]; });
    canvas.addEventListener("pointerup", (event) => {
      if (!this.held.size && Math.hypot(event.clientX - this.pressed[0], event.clientY - this.pressed[1]) < 4) this.tell(this.place(event));
    });
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
  }

  key(event) {
    if (event.key !== "Enter") { super.key(event); return; }
    event.preventDefault();
    this.tell([this.canvas.width / 2, this.canvas.height / 2]);
  }

  /** Tell the page that a pixel was clicked, or that Enter was pressed for the one in the middle. */
  tell([px, py]) {
    const pixel = [Math.floor((px - this.x) / this.scale), Math.floor((py - this.y) / this.scale)];
    if (pixel[0] < 0 || pixel[1] < 0 || pixel[0] >= this.width || pixel[1] >= this.height) return;
    this.canvas.dispatchEvent(new CustomEvent("place", { detail: pixel }));
  }

  /** Show a pixel in the middle. */
  look(x, y) {
    this.zoom(Math.max(1, (2 * this.ratio) / this.scale));
    this.pan(this.canvas.width / 2 - (this.x + x * this.scale), this.canvas.height / 2 - (this.y + y * this.scale));
    this.canvas.scrollIntoView({ block: "nearest" });
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
    this.overlay((put) => {
      for (const box of this.boxes) if (box.checked) this.layers.get(box.dataset.layer)?.paint(put, this.width);
    });
    for (const { x, y, words, done } of this.pins) drawPin(context, this.x + (x + 0.5) * scale, this.y + (y + 0.5) * scale, words, { ratio: this.ratio, done });
    this.root.querySelector("[data-view=fit]").textContent = `${Math.round((100 * scale) / this.ratio)} %`;
  }
}

for (const root of document.querySelectorAll("[data-viewer]")) root.viewer = new Viewer(root);
