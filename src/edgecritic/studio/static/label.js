// The labelling tool: loads an image with its proposal and edits, and ties the parts together.

import { actions, importFile } from "./actions.js";
import { decorate } from "./decorate.js";
import { $, desk, files, setup, work } from "./desk.js";
import { helpRow, toolButton } from "./fields.js";
import { History, LabelState } from "./fold.js";
import { listenToKeys } from "./keyboard.js";
import { get } from "./net.js";
import { listenToPointers } from "./pointers.js";
import { choose, palettes, setColours } from "./settings.js";
import { Sync } from "./sync.js";
import { say, showNumbers, showState } from "./tell.js";
import { tools } from "./tools.js";
import { View } from "./view.js";

async function start() {
  const size = [Number(setup.width), Number(setup.height)];
  const [photo, levels, gradient, known] = await Promise.all([
    picture(`${files}/photo`), bytes(`${files}/proposal`, size), bytes(`${files}/gradient`, size), storedEvents(),
  ]);
  desk.state = new LabelState(levels, ...size, Number(setup.level));
  desk.history = new History(desk.state);
  for (const event of known) desk.history.push(event);
  desk.sync = new Sync(`${work}/events`, `${location.host}:${setup.annotation}`, showState);
  for (const event of desk.sync.resume(known)) desk.history.push(event);
  if (!desk.sync.waiting.length) showState("saved", 0);
  desk.gradient = gradient;
  desk.view = new View($("canvas"), photo, desk.state);
  desk.view.decorations = decorate;
  desk.view.background = getComputedStyle($("canvas")).backgroundColor;
  new ResizeObserver(() => desk.view.resize()).observe($("canvas"));
  desk.view.resize();
  desk.view.fit();
  setTools();
  listenToPointers();
  listenToKeys();
  listen();
  let colours = null;
  try { colours = localStorage.getItem("edgecritic:colours"); } catch { /* the first ones */ }
  $("colours").value = palettes[colours] ? colours : "magenta";
  setColours($("colours").value);
  showNumbers();
  document.body.dataset.ready = "yes";
  window.studio = desk;
}

/** Load all edits, page by page. */
async function storedEvents() {
  const events = [];
  let page;
  do {
    page = await get(`${work}/events?from=${events.length}`);
    events.push(...page.events);
  } while (page.events.length && events.length < page.count);
  return events;
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

/** Put the tools on the page: buttons, options, rows of the help; choose the first. */
function setTools() {
  desk.tools = tools;
  const chosen = tools.filter((tool) => tool.label);
  $("tools").replaceChildren(...chosen.map((tool) => toolButton(tool, () => choose(tool))));
  $("options").replaceChildren(...tools.flatMap((tool) => tool.options()));
  const rows = [[chosen.map((tool) => tool.key.toUpperCase()), chosen.map((tool) => tool.label.toLowerCase()).join(", ")], ...tools.flatMap((tool) => tool.help)];
  $("keys").prepend(...rows.flatMap((row) => helpRow(...row)));
  choose(chosen[0]);
}

function listen() {
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => actions[button.dataset.do]());
  $("opacity").addEventListener("input", () => { desk.view.opacity = Number($("opacity").value) / 100; desk.view.invalidate(); });
  $("show-map").addEventListener("change", () => { desk.view.showMap = $("show-map").checked; desk.view.invalidate(); });
  $("show-photo").addEventListener("change", () => { desk.view.showPhoto = $("show-photo").checked; desk.view.invalidate(); });
  $("colours").addEventListener("change", () => setColours($("colours").value));
  $("import-file").addEventListener("change", importFile);
  window.addEventListener("beforeunload", (event) => { if (desk.sync.waiting.length && desk.sync.broken) event.preventDefault(); });
}

start().catch((error) => say(error.message));
