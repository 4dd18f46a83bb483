// One picture: photo, map and what was matched, sharp at every zoom; all pictures of one plane move together.

import { PanZoom, abgr } from "./panzoom.js";

const GRID_FROM = 12, DASHED = "#8a8f94";
/** What only the first and only the second of two detectors has. */
export const ONLY = [["#d81b9a", "magenta"], ["#e8b800", "yellow"]];
const hex = ([r, g, b]) => `#${[r, g, b].map((one) => one.toString(16).padStart(2, "0")).join("")}`;

export class Stage extends PanZoom {
  /** `page` has what all pictures share: space, layers, colours, truths; `axis` is that along which planes are cut. */
  constructor(canvas, page, axis, which) {
    const [down, right] = page.space.seen(axis), { shape, sizes } = page.space, least = Math.min(sizes[down], sizes[right]);
    super(canvas, shape[right], shape[down], [sizes[right] / least, sizes[down] / least]);
    Object.assign(this, { page, axis, which, down, right });
    canvas.style.aspectRatio = `${this.width * this.unit[0]} / ${this.height * this.unit[1]}`;
    canvas.addEventListener("pointermove", (event) => page.point(this, this.pixel(event)));
    canvas.addEventListener("pointerleave", () => page.point(this, null));
    canvas.addEventListener("pointerdown", (event) => { this.pressed = [event.clientX, event.clientY]; });
    canvas.addEventListener("pointerup", (event) => {
      if (this.pressed && Math.hypot(event.clientX - this.pressed[0], event.clientY - this.pressed[1]) < 4) page.choose(this, this.pixel(event));
    });
  }

  get drawable() { return Boolean(this.page); }

  moved() { this.invalidate(); if (!this.following) this.page.linked(this); }

  /** Look at the same place as another picture: scale for a pixel of the page, and the middle. */
  look([scale, column, line]) {
    this.following = true;
    this.scale = scale * this.ratio;
    const [sx, sy] = this.size;
    this.x = Math.round(this.canvas.width / 2 - column * sx);
    this.y = Math.round(this.canvas.height / 2 - line * sy);
    this.invalidate();
    this.following = false;
  }

  get seen() {
    const [sx, sy] = this.size;
    return [this.scale / this.ratio, (this.canvas.width / 2 - this.x) / sx, (this.canvas.height / 2 - this.y) / sy];
  }

  pixel(event) {
    const [px, py] = this.place(event), [sx, sy] = this.size;
    const column = Math.floor((px - this.x) / sx), line = Math.floor((py - this.y) / sy);
    return column >= 0 && line >= 0 && column < this.width && line < this.height ? [line, column] : null;
  }

  /** Return the raster index of a pixel of this picture. */
  flat([line, column]) {
    const place = [...this.page.at];
    place[this.down] = line;
    place[this.right] = column;
    return this.page.space.flat(place);
  }

  /** Call `act(column, line, flat)` for the pixels of a list that lie in this plane. */
  each(list, act) {
    const { space, at } = this.page;
    if (!space.volume) {
      for (const flat of list) act(flat % this.width, Math.floor(flat / this.width), flat);
      return;
    }
    for (const flat of list) {
      const place = space.place(flat);
      if (place[this.axis] === at[this.axis]) act(place[this.right], place[this.down], flat);
    }
  }

  draw() {
    const { context, page } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.background(), 0, 0);
    this.overlay((put) => this.paint(put));
    this.lines((ax, ay, bx, by) => { context.moveTo(ax, ay); context.lineTo(bx, by); });
    if (this.scale >= GRID_FROM) this.grid();
    if (page.space.volume) this.cross();
    this.drawn?.();
  }

  /** Return photo and strength as they are seen from here; they stay while the threshold moves. */
  background() {
    const { page, canvas: { width, height } } = this, [sx, sy] = this.size, on = page.layers;
    const photo = on.has("p") && page.photo(this.axis), strength = on.has("s") && page.strengthPicture(this.detector, this.axis);
    const key = [photo, strength, width, height, sx, sy, this.x, this.y];
    if (this.behind && key.every((one, at) => one === this.behindKey[at])) return this.behind;
    const behind = this.behind?.width === width && this.behind.height === height ? this.behind : new OffscreenCanvas(width, height), context = behind.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = "#808080";
    context.fillRect(0, 0, width, height);
    context.setTransform(sx, 0, 0, sy, this.x, this.y);
    context.imageSmoothingEnabled = this.scale < 1;
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, this.width, this.height);
    if (photo) context.drawImage(photo, 0, 0, this.width, this.height);
    if (strength) { context.globalAlpha = photo ? 0.7 : 1; context.drawImage(strength, 0, 0, this.width, this.height); context.globalAlpha = 1; }
    Object.assign(this, { behind, behindKey: key });
    return behind;
  }

  get detector() { return this.page.detectorOf(this.which); }

  /** Call `put(column, line, colour)` for every pixel that is coloured, those that lie on top last. */
  paint(put) {
    const { page } = this, on = page.layers, { colours } = page, solid = (name) => abgr(hex(colours[name]));
    if (page.mode === "difference") { this.difference(put); return; }
    const sight = page.sight(this.detector);
    if (on.has("l")) for (const person of page.people) { const colour = abgr(page.personColour(person)); this.each(page.truths[person], (column, line) => put(column, line, colour)); }
    if (!sight) return;
    if (on.has("m")) {
      const text = hex(colours.miss), steps = Array.from({ length: page.people.length + 1 }, (_, many) => abgr(text, Math.round(255 * (0.4 + (0.6 * many) / Math.max(1, page.people.length)))));
      this.each(sight.missed, (column, line, flat) => put(column, line, steps[sight.missedBy[flat]]));
    }
    if (on.has("c")) { const ink = abgr("#1b2127"); this.each(sight.candidate, (column, line) => put(column, line, ink)); }
    if (on.has("f")) { const colour = solid("alarm"); this.each(sight.alarms, (column, line) => put(column, line, colour)); }
    if (on.has("h")) { const colour = solid("hit"); this.each(sight.hits, (column, line) => put(column, line, colour)); }
    if (on.has("x")) this.each(sight.hits, (column, line, flat) => put(column, line, page.shade(sight.distanceOf(flat), sight.reply.tolerance)));
  }

  difference(put) {
    const { page } = this, [a, b] = page.compared.map((one) => page.sight(one));
    if (!a || !b) return;
    const [first, second] = ONLY.map(([colour]) => abgr(colour)), [faint, faintToo] = ONLY.map(([colour]) => abgr(colour, 110)), both = abgr("#5b6570"), neither = abgr(hex(page.colours.miss), 200);
    if (page.layers.has("f")) {
      this.each(a.alarms, (column, line) => put(column, line, faint));
      this.each(b.alarms, (column, line) => put(column, line, faintToo));
    }
    for (const person of page.people) {
      this.each(page.truths[person], (column, line, flat) => {
        const one = a.found.has(flat), other = b.found.has(flat);
        if (one && other) { if (page.layers.has("h")) put(column, line, both); } else if (one) put(column, line, first);
        else if (other) put(column, line, second); else if (page.layers.has("m")) put(column, line, neither);
      });
    }
  }

  /** Draw the matched pairs as short lines from pixel to pixel, in pixels of the canvas. */
  lines(line, context = this.context) {
    const sight = this.page.layers.has("r") && this.page.mode !== "difference" && this.page.sight(this.detector);
    if (!sight) return;
    const [sx, sy] = this.size, { space } = this.page;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.strokeStyle = "#d81b60";
    context.lineWidth = Math.max(1, Math.min(4, this.scale / 5));
    context.beginPath();
    for (const { there } of sight.partners.values()) {
      this.each(there.keys(), (column, row, flat) => {
        const to = space.place(there.get(flat));
        const ax = this.x + (column + 0.5) * sx, ay = this.y + (row + 0.5) * sy;
        const bx = this.x + (to[this.right] + 0.5) * sx, by = this.y + (to[this.down] + 0.5) * sy;
        if (ax !== bx || ay !== by) line(ax, ay, bx, by);
      });
    }
    context.stroke();
  }

  grid() {
    const { context } = this, [sx, sy] = this.size;
    const left = Math.max(0, Math.floor(-this.x / sx)), top = Math.max(0, Math.floor(-this.y / sy));
    const right = Math.min(this.width, Math.ceil((this.canvas.width - this.x) / sx)), low = Math.min(this.height, Math.ceil((this.canvas.height - this.y) / sy));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.strokeStyle = "rgba(128,128,128,.3)";
    context.lineWidth = 1;
    context.beginPath();
    for (let column = left; column <= right; column++) { const x = Math.round(this.x + column * sx) + 0.5; context.moveTo(x, this.y + top * sy); context.lineTo(x, this.y + low * sy); }
    for (let line = top; line <= low; line++) { const y = Math.round(this.y + line * sy) + 0.5; context.moveTo(this.x + left * sx, y); context.lineTo(this.x + right * sx, y); }
    context.stroke();
  }

  /** Show where the other two planes cut this one. */
  cross() {
    const { context } = this, [sx, sy] = this.size, { at } = this.page;
    const x = this.x + (at[this.right] + 0.5) * sx, y = this.y + (at[this.down] + 0.5) * sy;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.strokeStyle = DASHED;
    context.lineWidth = 1;
    context.setLineDash([6, 6]);
    context.beginPath();
    context.moveTo(x, this.y); context.lineTo(x, this.y + this.height * sy);
    context.moveTo(this.x, y); context.lineTo(this.x + this.width * sx, y);
    context.stroke();
    context.setLineDash([]);
  }

  /** Return this picture drawn anew, `factor` times as large. */
  enlarged(factor) {
    const canvas = new OffscreenCanvas(this.canvas.width * factor, this.canvas.height * factor), copy = Object.create(this);
    Object.assign(copy, { canvas, context: canvas.getContext("2d"), scratch: new OffscreenCanvas(1, 1), over: null, scale: this.scale * factor, x: this.x * factor, y: this.y * factor, drawn: null, behind: null });
    copy.draw();
    return canvas;
  }
}
