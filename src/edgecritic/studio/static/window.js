// Photos with more than 8 bits: which of their values are shown, by level (the middle) and window (the width).

import { $, desk } from "./desk.js";
import { TiledPhoto, WholePhoto, tileBytes } from "./tiles.js";

const MOST_TILES = 40;

/** The sliders, and the grey of every value as they say; `turn` counts their changes. */
class Window {
  table = new Uint8ClampedArray(65536);
  turn = 0;

  /** Show at first what lies between two percentiles of these values; `changed` is called after every change. */
  constructor(values, changed) {
    const [least, most] = percentiles(values);
    $("window").hidden = false;
    $("window-level").value = Math.round((500 * (least + most)) / 65535);
    $("window-width").value = Math.max(1, Math.round((1000 * (most - least)) / 65535));
    for (const id of ["window-level", "window-width"]) $(id).addEventListener("input", () => { this.read(); changed(); });
    this.read();
  }

  read() {
    const level = Number($("window-level").value) / 1000, span = Number($("window-width").value) / 1000, least = 65535 * (level - span / 2);
    for (let value = 0; value < 65536; value++) this.table[value] = (255 * (value - least)) / (65535 * span);
    this.turn++;
    $("window-level-text").textContent = `${(100 * level).toFixed(1)} %`;
    $("window-width-text").textContent = `${(100 * span).toFixed(1)} %`;
  }
}

/** Values of a picture and a canvas that shows them, painted anew when the window has moved since. */
class Shade {
  constructor(values, width, height) {
    Object.assign(this, { values, width, height, turn: -1 });
    this.canvas = new OffscreenCanvas(width, height);
    this.context = this.canvas.getContext("2d", { willReadFrequently: true });
    this.data = new ImageData(width, height);
  }

  by(window_) {
    if (this.turn === window_.turn) return this.canvas;
    const pixels = new Uint32Array(this.data.data.buffer), { values } = this, { table } = window_;
    for (let at = 0; at < values.length; at++) pixels[at] = 0xff000000 | (table[values[at]] * 0x010101);
    this.context.putImageData(this.data, 0, 0);
    this.turn = window_.turn;
    return this.canvas;
  }
}

/** Load the values of a photo that is one picture, two bytes in red and green. */
export async function deepPhoto(path, [width, height]) {
  const reply = await fetch(path);
  if (!reply.ok) throw new Error(`The image could not be loaded (${reply.status}).`);
  const bitmap = await createImageBitmap(await reply.blob(), { colorSpaceConversion: "none", premultiplyAlpha: "none" });
  const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, width, height), values = new Uint16Array(width * height);
  for (let at = 0; at < values.length; at++) values[at] = (data[4 * at] << 8) | data[4 * at + 1];
  const shade = new Shade(values, width, height), window_ = new Window(values, () => { shade.by(window_); desk.view?.invalidate(); });
  return new WholePhoto(shade.by(window_));
}

/** A photo in tiles of two bytes for each value. */
export class DeepTiles extends TiledPhoto {
  get most() { return MOST_TILES; }

  async load(key) {
    const values = new Uint16Array((await tileBytes(`${this.files}/tiles/deep/${key}`)).buffer);
    this.window ??= new Window(values, () => this.onLoad());
    return new Shade(values, ...this.sizeOf(key));
  }

  picture(shade) { return shade.by(this.window); }
  drop() { /* nothing to give back */ }
}

/** Return the values below which half a percent lies, and above which half a percent does. */
function percentiles(values) {
  const count = new Uint32Array(65536), few = values.length / 200;
  for (const value of values) count[value]++;
  let low = 0, high = 65535;
  for (let sum = count[low]; sum < few && low < 65535; sum += count[low]) low++;
  for (let sum = count[high]; sum < few && high > low; sum += count[high]) high--;
  return [low, Math.max(high, low + 1)];
}
