// The labelling tool: loads an image with its proposal and edits, and ties the parts together.

import { actions, importFile } from "./actions.js";
import { decorate } from "./decorate.js";
import { $, desk, files, setup, work } from "./desk.js";
import { History, LabelState } from "./fold.js";
import { key } from "./keyboard.js";
import { LiveWire } from "./livewire.js";
import { get } from "./net.js";
import { listenToPointers } from "./pointers.js";
import { choose, keepThreshold, palettes, previewThreshold, setColours, setRadius } from "./settings.js";
import { Sync } from "./sync.js";
import { say, showNumbers, showState } from "./tell.js";
import { View } from "./view.js";

async function start() {
  const size = [Number(setup.width), Number(setup.height)];
  const [photo, levels, gradient, known] = await Promise.all([
    picture(`${files}/photo`), bytes(`${files}/proposal`, size), bytes(`${files}/gradient`, size), get(`${work}/events`),
  ]);
  desk.state = new LabelState(levels, ...size, Number(setup.level));
  desk.history = new History(desk.state);
  for (const event of known.events) desk.history.push(event);
  desk.sync = new Sync(`${work}/events`, `${location.host}:${setup.annotation}`, showState);
  for (const event of desk.sync.resume(known.events)) desk.history.push(event);
  if (!desk.sync.waiting.length) showState("saved", 0);
  desk.wire = new LiveWire(gradient, levels, ...size);
  desk.view = new View($("canvas"), photo, desk.state);
  desk.view.decorations = decorate;
  desk.view.background = getComputedStyle($("canvas")).backgroundColor;
  new ResizeObserver(() => desk.view.resize()).observe($("canvas"));
  desk.view.resize();
  desk.view.fit();
  listenToPointers();
  listen();
  let colours = null;
  try { colours = localStorage.getItem("edgecritic:colours"); } catch { /* the first ones */ }
  $("colours").value = palettes[colours] ? colours : "magenta";
  setColours($("colours").value);
  choose("erase");
  showNumbers();
  document.body.dataset.ready = "yes";
  window.studio = desk;
}

async function picture(path) {
  const reply = await fetch(path);
  if (!reply.ok) throw new Error(`The image could not be loaded (${reply.status}).`);
  return createImageBitmap(await reply.blob(), { colorSpaceConversion: "none", premultiplyAlpha: "none" });
}

async function bytes(path, [width, height]) {
  const bitmap = await picture(path);
  const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  const data = context.getImageData(0, 0, width, height).data, result = new Uint8Array(width * height);
  for (let at = 0; at < result.length; at++) result[at] = data[4 * at];
  return result;
}

function listen() {
  document.addEventListener("keydown", key);
  for (const button of document.querySelectorAll("[data-tool]")) button.addEventListener("click", () => choose(button.dataset.tool));
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => actions[button.dataset.do]());
  const slider = $("threshold");
  slider.addEventListener("input", () => previewThreshold(Number(slider.value)));
  slider.addEventListener("change", () => keepThreshold(Number(slider.value)));
  $("radius").addEventListener("input", () => setRadius(Number($("radius").value)));
  $("opacity").addEventListener("input", () => { desk.view.opacity = Number($("opacity").value) / 100; desk.view.invalidate(); });
  $("show-map").addEventListener("change", () => { desk.view.showMap = $("show-map").checked; desk.view.invalidate(); });
  $("show-photo").addEventListener("change", () => { desk.view.showPhoto = $("show-photo").checked; desk.view.invalidate(); });
  $("colours").addEventListener("change", () => setColours($("colours").value));
  $("import-file").addEventListener("change", importFile);
  window.addEventListener("beforeunload", (event) => { if (desk.sync.waiting.length && desk.sync.broken) event.preventDefault(); });
}

start().catch((error) => say(error.message));
