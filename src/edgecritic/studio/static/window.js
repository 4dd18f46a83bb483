// Photos with more than 8 bits: which of their values are shown, by level (the middle) and window (the width).

import { $, desk } from "./desk.js";

/** Load the values, two bytes in red and green; return a canvas that shows those between two percentiles. */
export async function deepPhoto(path, [width, height]) {
  const reply = await fetch(path);
  if (!reply.ok) throw new Error(`The image could not be loaded (${reply.status}).`);
  const bitmap = await createImageBitmap(await reply.blob(), { colorSpaceConversion: "none", premultiplyAlpha: "none" });
  const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  const data = context.getImageData(0, 0, width, height), values = new Uint16Array(width * height);
  for (let at = 0; at < values.length; at++) values[at] = (data.data[4 * at] << 8) | data.data[4 * at + 1];
  const [least, most] = percentiles(values);
  $("window").hidden = false;
  $("window-level").value = Math.round((500 * (least + most)) / 65535);
  $("window-width").value = Math.max(1, Math.round((1000 * (most - least)) / 65535));
  const show = () => {
    const level = Number($("window-level").value) / 1000, span = Number($("window-width").value) / 1000;
    paint(data, values, 65535 * (level - span / 2), 65535 * span);
    context.putImageData(data, 0, 0);
    $("window-level-text").textContent = `${(100 * level).toFixed(1)} %`;
    $("window-width-text").textContent = `${(100 * span).toFixed(1)} %`;
    desk.view?.invalidate();
  };
  for (const id of ["window-level", "window-width"]) $(id).addEventListener("input", show);
  show();
  return canvas;
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

function paint(data, values, least, span) {
  const table = new Uint8ClampedArray(65536), pixels = new Uint32Array(data.data.buffer);
  for (let value = 0; value < 65536; value++) table[value] = (255 * (value - least)) / span;
  for (let at = 0; at < values.length; at++) pixels[at] = 0xff000000 | (table[values[at]] * 0x010101);
}
