// Maps over the photo: every edge pixel is at least one pixel of the screen, at every zoom; each map can be switched on and off.

import { PanZoom, abgr, paintPixel } from "./panzoom.js";
import { TiledPhoto, WholePhoto } from "./tiles.js";

/** A layer is a list of numbers, class·2²⁸ + place of a pixel; its colours are those of its classes. */
class Layer {
  constructor(words, colours) { Object.assign(this, { words, colours }); }

  paint(screen, wide, high, view) {
    for (const word of this.words) {
      const at = word & 0xfffffff;
      paintPixel(screen, wide, high, view, at % view.width, Math.floor(at / view.width), this.colours[word >>> 28]);
    }
  }
}

class Viewer extends PanZoom {
  constructor(root) {
    super(root.querySelector("canvas"), Number(root.dataset.width), Number(root.dataset.height));
    this.root = root;
    this.layers = new Map();
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
    const { root } = this;
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
    this.overlay((screen, wide, high) => {
      for (const box of this.boxes) if (box.checked) this.layers.get(box.dataset.layer)?.paint(screen, wide, high, this);
    });
    this.root.querySelector("[data-view=fit]").textContent = `${Math.round((100 * scale) / this.ratio)} %`;
  }
}

for (const root of document.querySelectorAll("[data-viewer]")) root.viewer = new Viewer(root);
