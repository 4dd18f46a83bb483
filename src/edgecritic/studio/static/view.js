// The canvas: photo and map, sharp at every zoom, redrawn only where something has changed.

import { ADDED } from "./fold.js";

const LEAST = 0.05, MOST = 32;
const GRID_FROM = 8;

export class View {
  constructor(canvas, photo, state) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.photo = photo;
    this.state = state;
    this.width = state.width;
    this.height = state.height;
    this.layer = new OffscreenCanvas(this.width, this.height);
    this.layerContext = this.layer.getContext("2d");
    this.pixels = this.layerContext.createImageData(this.width, this.height);
    this.colours = new Uint32Array(this.pixels.data.buffer);
    this.scale = 1; this.x = 0; this.y = 0;
    this.showMap = true; this.showPhoto = true; this.opacity = 1;
    this.decorations = () => {};
    this.dirty = null;
    this.asked = false;
    this.palette();
    this.refresh();
  }

  /** Colours as 0xAABBGGRR. */
  palette(proposal = 0xffb81fff, added = 0xfff0f000) { this.proposal = proposal; this.added = added; }

  /** Take the map's pixels of a box over into the picture. */
  refresh(box = null) {
    const [x0, y0, x1, y1] = box ?? [0, 0, this.width - 1, this.height - 1];
    const { marks, levels, threshold } = this.state;
    for (let y = y0; y <= y1; y++) {
      for (let at = y * this.width + x0, end = y * this.width + x1; at <= end; at++) {
        const mark = marks[at];
        if (mark === 0) this.colours[at] = levels[at] > 0 && levels[at] >= threshold ? this.proposal : 0;
        else this.colours[at] = mark === ADDED ? this.added : 0;
      }
    }
    this.layerContext.putImageData(this.pixels, 0, 0, x0, y0, x1 - x0 + 1, y1 - y0 + 1);
    this.invalidate([x0, y0, x1, y1]);
  }

  /** Ask for a redraw of a box of the image, or of everything. */
  invalidate(box = null) {
    if (!box || this.dirty === "all") this.dirty = "all";
    else if (!this.dirty) this.dirty = [...box];
    else {
      this.dirty = [
        Math.min(this.dirty[0], box[0]), Math.min(this.dirty[1], box[1]),
        Math.max(this.dirty[2], box[2]), Math.max(this.dirty[3], box[3]),
      ];
    }
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); });
  }

  resize() {
    const ratio = window.devicePixelRatio || 1, box = this.canvas.getBoundingClientRect();
    const width = Math.max(1, Math.round(box.width * ratio)), height = Math.max(1, Math.round(box.height * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.ratio = ratio;
    this.invalidate();
  }

  fit() {
    const scale = Math.min(this.canvas.width / this.width, this.canvas.height / this.height) * 0.96;
    this.scale = Math.min(MOST, Math.max(LEAST, scale >= 1 ? Math.floor(scale) : scale));
    this.x = Math.round((this.canvas.width - this.width * this.scale) / 2);
    this.y = Math.round((this.canvas.height - this.height * this.scale) / 2);
    this.invalidate();
  }

  /** Zoom about a place of the canvas, given in its own pixels. */
  zoomTo(scale, px = this.canvas.width / 2, py = this.canvas.height / 2) {
    const next = Math.min(MOST, Math.max(LEAST, scale)), factor = next / this.scale;
    this.x = Math.round(px - (px - this.x) * factor);
    this.y = Math.round(py - (py - this.y) * factor);
    this.scale = next;
    this.keepInside();
    this.invalidate();
  }

  pan(dx, dy) {
    this.x = Math.round(this.x + dx);
    this.y = Math.round(this.y + dy);
    this.keepInside();
    this.invalidate();
  }

  keepInside() {
    const margin = 60;
    this.x = Math.min(this.canvas.width - margin, Math.max(margin - this.width * this.scale, this.x));
    this.y = Math.min(this.canvas.height - margin, Math.max(margin - this.height * this.scale, this.y));
  }

  /** Return the pixel of the image below a pointer. */
  pixel(event) {
    const [px, py] = this.place(event);
    return [Math.floor((px - this.x) / this.scale), Math.floor((py - this.y) / this.scale)];
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio];
  }

  clamp([x, y]) {
    return [Math.min(this.width - 1, Math.max(0, x)), Math.min(this.height - 1, Math.max(0, y))];
  }

  /** Scroll so that a pixel is seen. */
  showPixel(x, y) {
    const px = this.x + x * this.scale, py = this.y + y * this.scale, margin = 40;
    const dx = px < margin ? margin - px : px > this.canvas.width - margin ? this.canvas.width - margin - px : 0;
    const dy = py < margin ? margin - py : py > this.canvas.height - margin ? this.canvas.height - margin - py : 0;
    if (dx || dy) this.pan(dx, dy);
  }

  draw() {
    const { context, scale } = this, dirty = this.dirty;
    this.dirty = null;
    if (!dirty) return;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.save();
    if (dirty !== "all") {
      const left = Math.floor(this.x + dirty[0] * scale) - 2, top = Math.floor(this.y + dirty[1] * scale) - 2;
      const right = Math.ceil(this.x + (dirty[2] + 1) * scale) + 2, low = Math.ceil(this.y + (dirty[3] + 1) * scale) + 2;
      context.beginPath();
      context.rect(left, top, right - left, low - top);
      context.clip();
    }
    context.fillStyle = this.background ?? "#808080";
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    context.setTransform(scale, 0, 0, scale, this.x, this.y);
    context.imageSmoothingEnabled = scale < 1;
    if (this.showPhoto) context.drawImage(this.photo, 0, 0, this.width, this.height);
    else { context.fillStyle = "#ffffff"; context.fillRect(0, 0, this.width, this.height); }
    if (this.showMap) {
      context.globalAlpha = this.opacity;
      context.drawImage(this.layer, 0, 0);
      context.globalAlpha = 1;
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    if (scale >= GRID_FROM) this.drawGrid();
    this.decorations(context, this);
    context.restore();
  }

  drawGrid() {
    const { context, scale } = this;
    const left = Math.max(0, Math.floor(-this.x / scale)), top = Math.max(0, Math.floor(-this.y / scale));
    const right = Math.min(this.width, Math.ceil((this.canvas.width - this.x) / scale));
    const low = Math.min(this.height, Math.ceil((this.canvas.height - this.y) / scale));
    context.strokeStyle = "rgba(128,128,128,.28)";
    context.lineWidth = 1;
    context.beginPath();
    for (let x = left; x <= right; x++) {
      context.moveTo(Math.round(this.x + x * scale) + 0.5, this.y + top * scale);
      context.lineTo(Math.round(this.x + x * scale) + 0.5, this.y + low * scale);
    }
    for (let y = top; y <= low; y++) {
      context.moveTo(this.x + left * scale, Math.round(this.y + y * scale) + 0.5);
      context.lineTo(this.x + right * scale, Math.round(this.y + y * scale) + 0.5);
    }
    context.stroke();
  }
}
