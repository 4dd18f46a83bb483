// The canvas: photo and map, sharp at every zoom, redrawn only where something has changed.

import { Pyramid } from "./pyramid.js";

const LEAST = 0.02, MOST = 32;
const GRID_FROM = 8;

export class View {
  /** `photo` draws itself: WholePhoto or TiledPhoto of tiles.js. */
  constructor(canvas, photo, state) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.photo = photo;
    this.state = state;
    this.width = state.width;
    this.height = state.height;
    this.pyramid = new Pyramid(state);
    this.scratch = new OffscreenCanvas(1, 1);
    this.scratchContext = this.scratch.getContext("2d");
    this.scale = 1; this.x = 0; this.y = 0;
    this.showMap = true; this.showPhoto = true; this.opacity = 1;
    this.filter = "none";  // of the photo
    this.classColours = null;
    this.decorations = () => {};
    this.dirty = null;
    this.asked = false;
    this.palette();
  }

  /** Colours as 0xAABBGGRR. */
  palette(proposal = 0xffb81fff, added = 0xfff0f000) { this.proposal = proposal; this.added = added; }

  /** Take the map's pixels of a box over into the picture. */
  refresh(box = null) {
    const [x0, y0, x1, y1] = box ?? [0, 0, this.width - 1, this.height - 1];
    this.pyramid.update([x0, y0, x1, y1]);
    const block = (1 << this.pyramid.levelFor(this.scale)) - 1;
    this.invalidate([x0 & ~block, y0 & ~block, x1 | block, y1 | block]);
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
    const box = this.seen(dirty);
    if (box) {
      if (this.showPhoto) {
        context.filter = this.filter;
        this.photo.draw(context, this, box);
        context.filter = "none";
      } else { context.fillStyle = "#ffffff"; context.fillRect(0, 0, this.width, this.height); }
      if (this.showMap) this.drawMap(box);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    if (scale >= GRID_FROM) this.drawGrid();
    this.decorations(context, this);
    context.restore();
  }

  /** Return the pixels of the image that must be drawn, or null if none is seen. */
  seen(dirty) {
    const more = 2 + Math.ceil(3 / this.scale), all = dirty === "all";
    const x0 = Math.max(0, Math.floor(-this.x / this.scale), all ? 0 : dirty[0] - more), y0 = Math.max(0, Math.floor(-this.y / this.scale), all ? 0 : dirty[1] - more);
    const x1 = Math.min(this.width - 1, Math.floor((this.canvas.width - this.x) / this.scale), all ? Infinity : dirty[2] + more);
    const y1 = Math.min(this.height - 1, Math.floor((this.canvas.height - this.y) / this.scale), all ? Infinity : dirty[3] + more);
    return x0 <= x1 && y0 <= y1 ? [x0, y0, x1, y1] : null;
  }

  /** Draw the edges of a box: pixel by pixel, or block by block where pixels are smaller than those of the screen. */
  drawMap(box) {
    const { context, scratch, pyramid } = this, k = pyramid.levelFor(this.scale), [x0, y0, x1, y1] = box.map((value) => value >> k);
    const width = x1 - x0 + 1, height = y1 - y0 + 1;
    if (scratch.width < width) scratch.width = width;
    if (scratch.height < height) scratch.height = height;
    const picture = new ImageData(width, height);
    pyramid.paint(k, [x0, y0, x1, y1], new Uint32Array(picture.data.buffer), this.proposal, this.added, this.classColours);
    this.scratchContext.putImageData(picture, 0, 0);
    context.imageSmoothingEnabled = false;
    context.globalAlpha = this.opacity;
    context.drawImage(scratch, 0, 0, width, height, x0 << k, y0 << k, width << k, height << k);
    context.globalAlpha = 1;
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
