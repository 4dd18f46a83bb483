// The chosen tool, colours, the zoom.

import { $, desk, files } from "./desk.js";
import { remember, setting } from "./prefs.js";
import { showZoom } from "./tell.js";
import { GradientTiles, WholePhoto, grey } from "./tiles.js";

export function choose(tool) {
  if (desk.tool && tool !== desk.tool) { desk.tool.finish(); desk.tool.cancel(); }
  desk.tool = tool;
  remember("tool", tool.name);
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
  remember("colours", name);
  desk.view.invalidate();
}

/** Show the map as it was shown before, on another image. */
export function restoreView() {
  const colours = setting("colours", "magenta");
  $("colours").value = palettes[colours] ? colours : "magenta";
  $("opacity").value = setting("opacity", 100);
  for (const id of ["show-map", "show-photo"]) $(id).checked = setting(id, true);
  for (const id of ["brightness", "contrast"]) $(id).value = setting(id, 100);
  applyView();
  setColours($("colours").value);
}

/** Take the settings of the panel over. */
export function applyView() {
  const { view } = desk;
  view.opacity = Number($("opacity").value) / 100;
  view.showMap = $("show-map").checked;
  view.showPhoto = $("show-photo").checked;
  remember("opacity", Number($("opacity").value));
  for (const id of ["show-map", "show-photo"]) remember(id, $(id).checked);
  const [brightness, contrast] = ["brightness", "contrast"].map((id) => {
    const value = Number($(id).value);
    remember(id, value);
    $(`${id}-text`).textContent = `${value} %`;
    return value;
  });
  view.filter = brightness === 100 && contrast === 100 ? "none" : `brightness(${brightness}%) contrast(${contrast}%)`;
  $("plain").disabled = view.filter === "none";
  view.invalidate();
}

/** Show the photo as it is. */
export function plainView() {
  for (const id of ["brightness", "contrast"]) $(id).value = 100;
  applyView();
}

/** Show the gradient in place of the photo, or the photo again. */
export async function showGradient(isWanted) {
  const { view } = desk;
  desk.pictures ??= { photo: view.photo };
  if (isWanted) desk.pictures.gradient ??= await gradientPicture();
  view.photo = isWanted ? desk.pictures.gradient : desk.pictures.photo;
  view.invalidate();
}

async function gradientPicture() {
  const { width, height } = desk.state;
  if (!desk.gradientTiles) return new WholePhoto(await grey(desk.gradient, width, height));
  const tiles = new GradientTiles(files, width, height);
  tiles.onLoad = () => desk.view.invalidate();
  await tiles.first;
  return tiles;
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
