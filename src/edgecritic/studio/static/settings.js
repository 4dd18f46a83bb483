// The chosen tool, colours, the zoom.

import { $, desk } from "./desk.js";
import { showZoom } from "./tell.js";

export function choose(tool) {
  if (desk.tool && tool !== desk.tool) { desk.tool.finish(); desk.tool.cancel(); }
  desk.tool = tool;
  for (const button of document.querySelectorAll("[data-tool]")) button.setAttribute("aria-pressed", String(button.dataset.tool === tool.name));
  $("canvas").style.cursor = tool.cursor;
  document.querySelector("[data-do=finish]").hidden = !tool.lines;
  $("hint").textContent = tool.hint;
  desk.view.invalidate();
}

// Colours of proposed and added pixels, as 0xAABBGGRR; each pair differs in lightness too.
export const palettes = { magenta: [0xffb81fff, 0xfff0f000], orange: [0xff0066ff, 0xffffd24d], lemon: [0xff00e5ff, 0xffff5a1f], green: [0xff2bd400, 0xffff66ff] };

export function setColours(name) {
  desk.view.palette(...palettes[name]);
  document.body.dataset.colours = name;
  try { localStorage.setItem("edgecritic:colours", name); } catch { /* not kept */ }
  desk.view.refresh();
}

export function nextColours() {
  const names = Object.keys(palettes), field = $("colours");
  field.value = names[(names.indexOf(field.value) + 1) % names.length];
  setColours(field.value);
}

export function zoom(scale) { desk.view.zoomTo(scale * desk.view.ratio, ...centre()); showZoom(); }

/** Zoom by a factor. */
export function zoomBy(factor) { zoom((desk.view.scale / desk.view.ratio) * factor); }

function centre() {
  const at = desk.cursor ?? desk.hover;
  if (!at) return [desk.view.canvas.width / 2, desk.view.canvas.height / 2];
  return [desk.view.x + (at[0] + 0.5) * desk.view.scale, desk.view.y + (at[1] + 0.5) * desk.view.scale];
}
