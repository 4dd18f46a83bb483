// The chosen tool, the threshold, colours, the size of the eraser, the zoom.

import { $, desk, setup } from "./desk.js";
import { commit, finishLine } from "./edits.js";
import { dropStroke } from "./strokes.js";
import { showNumbers, showZoom } from "./tell.js";

export function choose(name) {
  if (name !== desk.tool) { finishLine(); dropStroke(); }
  desk.tool = name;
  for (const button of document.querySelectorAll("[data-tool]")) button.setAttribute("aria-pressed", String(button.dataset.tool === name));
  document.body.dataset.tool = name;
  $("hint").textContent = hints[name];
  desk.view.invalidate();
}

const hints = {
  erase: "Drag to erase.",
  delete: "Click an edge to delete all of it.",
  line: "Click corner after corner, Enter ends the line. Or just draw.",
  wire: "Click on an edge, move along it, click again. Enter ends the line.",
  pan: "Drag to move the image. The wheel zooms.",
};

export function previewThreshold(level) {
  if (desk.finished) return;
  desk.state.threshold = level;
  desk.view.refresh();
  showNumbers();
}

export function keepThreshold(level) {
  const before = [...desk.history.done].reverse().find((one) => one.edit.op === "threshold")?.edit.data.level;
  desk.state.threshold = before ?? Number(setup.level);
  if (level === desk.state.threshold) { desk.view.refresh(); showNumbers(); return; }
  commit({ op: "threshold", data: { level } });
}

export function stepThreshold(step) {
  const level = Math.min(256, Math.max(1, desk.state.threshold + step));
  keepThreshold(level);
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

export function setRadius(value) {
  desk.radius = Math.min(64, Math.max(0, value));
  $("radius").value = desk.radius;
  $("radius-text").textContent = `${2 * desk.radius + 1} px`;
  desk.view.invalidate();
}

export function zoom(scale) { desk.view.zoomTo(scale * desk.view.ratio, ...centre()); showZoom(); }

function centre() {
  const at = desk.cursor ?? desk.hover;
  if (!at) return [desk.view.canvas.width / 2, desk.view.canvas.height / 2];
  return [desk.view.x + (at[0] + 0.5) * desk.view.scale, desk.view.y + (at[1] + 0.5) * desk.view.scale];
}
