// The labelling tool: loads an image with its proposal and edits, and ties the parts together.

import { actions, importFile } from "./actions.js";
import { ask, listVersions, storedEvents } from "./clash.js";
import { listComments } from "./comments.js";
import { decorate } from "./decorate.js";
import { $, desk, files, setup, work } from "./desk.js";
import { helpRow, toolButton } from "./fields.js";
import { History, LabelState } from "./fold.js";
import { listenToKeys } from "./keyboard.js";
import { isPressed, listenToPointers } from "./pointers.js";
import { setting } from "./prefs.js";
import { applyView, choose, restoreView, setColours, showGradient } from "./settings.js";
import { Sync } from "./sync.js";
import { say, showNumbers, showState } from "./tell.js";
import { tools } from "./tools.js";
import { TiledBytes, TiledPhoto, WholePhoto, levelBytes } from "./tiles.js";
import { View } from "./view.js";
import { DeepTiles, deepPhoto } from "./window.js";

async function start() {
  const size = [Number(setup.width), Number(setup.height)];
  const [{ photo, coarse }, known] = await Promise.all([setup.tiles ? loadTiles(size) : loadWhole(size), storedEvents()]);
  desk.view = new View($("canvas"), photo, desk.state);
  desk.history = new History(desk.state);
  desk.view.background = getComputedStyle($("canvas")).backgroundColor;
  desk.view.resize();
  desk.view.fit();
  if (desk.levelTiles) await beginTiles(coarse, known);
  for (const event of known) desk.history.push(event);
  desk.sync = new Sync(work, `${location.host}:${setup.annotation}`, { state: showState, more: takeOver, clash: ask });
  const kept = desk.sync.resume(known);
  for (const event of kept.events) desk.history.push(event);
  if (!desk.sync.waiting.length && !desk.sync.stopped) showState("saved", 0);
  if (!desk.levelTiles) desk.view.refresh();
  else for (const { patch } of desk.history.done) if (patch.box) desk.view.refresh(patch.box);
  desk.view.decorations = decorate;
  new ResizeObserver(() => desk.view.resize()).observe($("canvas"));
  setTools();
  listenToPointers();
  listenToKeys();
  listen();
  restoreView();
  if (kept.line && !desk.finished) goOn(kept.line);
  showNumbers();
  for (const list of [listVersions, listComments]) list().catch(() => { /* shown with the next visit */ });
  document.body.dataset.ready = "yes";
  window.studio = desk;
}

/** Load an image that is one file of each kind; return its photo. */
async function loadWhole(size) {
  const [photo, levels, gradient] = await Promise.all([
    setup.deep ? deepPhoto(`${files}/deep`, size) : picture(`${files}/photo`).then((bitmap) => new WholePhoto(bitmap)), bytes(`${files}/proposal`, size), bytes(`${files}/gradient`, size),
  ]);
  desk.state = new LabelState(levels, ...size, Number(setup.level));
  desk.gradient = gradient;
  return { photo };
}

/** Load of a large image what is seen first; return its photo, and its proposal `coarse` as it is. */
async function loadTiles(size) {
  const photo = new (setup.deep ? DeepTiles : TiledPhoto)(files, ...size), pixels = size[0] * size[1];
  const level = Number(setup.coarse), coarse = levelBytes(files, "proposal", level, ...size.map((side) => Math.ceil(side / 2 ** level)));
  desk.state = new LabelState(new Uint8Array(pixels), ...size, Number(setup.level), { empty: true });
  desk.gradient = new Uint8Array(pixels);
  desk.levelTiles = new TiledBytes(files, "proposal", ...size, desk.state.levels);
  desk.gradientTiles = new TiledBytes(files, "gradient", ...size, desk.gradient);
  photo.onLoad = () => desk.view?.invalidate();
  await photo.first;
  return { photo, coarse: await coarse };
}

/** Show the proposal coarsely, then load it; edits that depend on all of it wait for it. */
async function beginTiles(coarse, known) {
  const { view, levelTiles, state } = desk;
  view.pyramid.begin(Number(setup.coarse), coarse);
  view.invalidate();
  levelTiles.onTile = (box) => { state.arrived(box); view.refresh(box); if (levelTiles.complete) showNumbers(); };
  const middle = () => [(view.canvas.width / 2 - view.x) / view.scale, (view.canvas.height / 2 - view.y) / view.scale];
  const whole = nextPicture().then(() => levelTiles.all(middle));
  if (known.some((event) => ["delete", "despeckle", "lasso", "reveal"].includes(event.op))) await whole;
}

/** Wait until what was asked for is drawn. */
const nextPicture = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

/** Show what another window has done, unless something is being drawn here; tell whether it was shown. */
function takeOver(events) {
  if (isPressed() || desk.history === null) return false;
  for (const event of events) desk.history.push(event);
  desk.view.refresh();
  showNumbers();
  say(`${events.length === 1 ? "1 edit" : `${events.length} edits`} of another window taken over.`);
  return true;
}

/** Go on with the open line of an earlier visit. */
function goOn(line) {
  const tool = tools.find((one) => one.name === line.tool);
  if (!tool?.restore) return;
  choose(tool);
  tool.restore(line);
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
  const chosen = tools.filter((tool) => tool.label && tool.available);
  $("tools").replaceChildren(...chosen.map((tool) => toolButton(tool, () => choose(tool))));
  $("options").replaceChildren(...tools.flatMap((tool) => tool.options()));
  const rows = [[chosen.map((tool) => tool.key.toUpperCase()), chosen.map((tool) => tool.label.toLowerCase()).join(", ")], ...tools.flatMap((tool) => tool.help)];
  $("keys").prepend(...rows.flatMap((row) => helpRow(...row)));
  choose(chosen.find((tool) => tool.name === setting("tool", "")) ?? chosen[0]);
}

function listen() {
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => actions[button.dataset.do]());
  for (const id of ["opacity", "brightness", "contrast"]) $(id).addEventListener("input", applyView);
  $("show-gradient").addEventListener("change", () => showGradient($("show-gradient").checked).catch((failure) => say(failure.message)));
  for (const id of ["show-map", "show-photo"]) $(id).addEventListener("change", applyView);
  $("colours").addEventListener("change", () => setColours($("colours").value));
  $("import-file").addEventListener("change", importFile);
  $("clash-dialog").addEventListener("cancel", (event) => event.preventDefault());
  document.querySelector("main").addEventListener("click", (event) => {  // the pointer leaves keys to the canvas
    if (event.detail && event.target.closest("button, input[type=range], input[type=checkbox]")) $("canvas").focus({ preventScroll: true });
  });
  window.addEventListener("beforeunload", (event) => {
    const { waiting, kept } = desk.sync;
    if ((waiting.length || desk.tool.pending) && !kept.works) event.preventDefault();
  });
}

start().catch((error) => say(error.message));
