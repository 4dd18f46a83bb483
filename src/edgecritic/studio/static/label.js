// The labelling tool: ties the map, the canvas, the tools and the saving together.

import { ADDED, History, LabelState, discSpans, line } from "./fold.js";
import { LiveWire } from "./livewire.js";
import { get, send } from "./net.js";
import { Sync } from "./sync.js";
import { View } from "./view.js";

const $ = (id) => document.getElementById(id);
const setup = document.querySelector("main").dataset;
const work = `/g/${setup.guest}/annotations/${setup.annotation}`;
const files = `/g/${setup.guest}/images/${setup.image}`;
const MOST_POINTS = 4000;

let state, history, view, sync, wire;
let tool = "erase";
let radius = 6;
let finished = setup.submitted === "yes";
let stroke = null;
let points = [];
let preview = [];
let hover = null;
let cursor = null;

async function start() {
  const size = [Number(setup.width), Number(setup.height)];
  const [photo, levels, gradient, known] = await Promise.all([
    picture(`${files}/photo`), bytes(`${files}/proposal`, size), bytes(`${files}/gradient`, size), get(`${work}/events`),
  ]);
  state = new LabelState(levels, ...size, Number(setup.level));
  history = new History(state);
  for (const event of known.events) history.push(event);
  sync = new Sync(`${work}/events`, `${location.host}:${setup.annotation}`, showState);
  for (const event of sync.resume(known.events)) history.push(event);
  if (!sync.waiting.length) showState("saved", 0);
  wire = new LiveWire(gradient, levels, ...size);
  view = new View($("canvas"), photo, state);
  view.decorations = decorate;
  view.background = getComputedStyle($("canvas")).backgroundColor;
  new ResizeObserver(() => view.resize()).observe($("canvas"));
  view.resize();
  view.fit();
  listen();
  let colours = null;
  try { colours = localStorage.getItem("edgecritic:colours"); } catch { /* the first ones */ }
  $("colours").value = palettes[colours] ? colours : "magenta";
  setColours($("colours").value);
  choose("erase");
  showNumbers();
  document.body.dataset.ready = "yes";
  Object.assign(window, { studio: { get state() { return state; }, get view() { return view; }, get sync() { return sync; } } });
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

// --- edits -------------------------------------------------------------------------------------------

function commit(edit, patch = null) {
  if (finished) return;
  const box = history.push(edit, patch);
  if (box && !patch) view.refresh(box);
  sync.push(edit);
  showNumbers();
}

function undo() {
  if (points.length) { points.splice(-2); rewire(); return; }
  if (history.done.length) commit({ op: "undo", data: {} });
}

function redo() { if (history.undone.length) commit({ op: "redo", data: {} }); }

function finishLine() {
  if (points.length >= 2) {
    const made = points;
    points = []; preview = [];
    commit({ op: "draw", data: { points: made } });
  }
  cancelLine();
}

function cancelLine() { points = []; preview = []; wire.anchor = null; view.invalidate(); showNumbers(); }

function addVertex(pixel) {
  const [x, y] = view.clamp(pixel);
  if (tool === "wire") {
    if (!points.length) points = [x, y];
    else {
      const [tx, ty] = wire.clamp(x, y);
      wire.reach(tx, ty, 2000);
      points.push(...wire.path(tx, ty).slice(2));
    }
    rewire();
  } else {
    points.push(x, y);
  }
  if (points.length > 2 * MOST_POINTS) finishLine();
  view.invalidate();
  showNumbers();
}

function rewire() {
  preview = [];
  if (tool === "wire" && points.length) wire.start(points.at(-2), points.at(-1));
  else wire.anchor = null;
  view.invalidate();
}

function followWire() {
  if (tool !== "wire" || !wire.anchor || !hover) return;
  const [x, y] = wire.clamp(...view.clamp(hover));
  if (wire.reach(x, y, 8)) preview = wire.path(x, y);
  else requestAnimationFrame(followWire);
  view.invalidate();
}

function deleteAt(pixel) {
  const near = nearest(view.clamp(pixel));
  if (!near) { say("There is no edge here."); return; }
  commit({ op: "delete", data: { at: near, scope: $("scope").checked ? "segment" : "component" } });
}

/** Return the edge pixel next to a place, at most about 8 screen pixels away. */
function nearest([x, y]) {
  const reach = Math.max(1, Math.min(12, Math.round((8 * view.ratio) / view.scale)));
  let best = null, least = reach * reach + 1;
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const far = dx * dx + dy * dy;
      if (far < least && state.on(x + dx, y + dy)) { least = far; best = [x + dx, y + dy]; }
    }
  }
  return best;
}

// --- strokes -----------------------------------------------------------------------------------------

function beginStroke(pixel) {
  const [x, y] = view.clamp(pixel);
  const op = tool === "erase" ? "erase" : "draw";
  stroke = { op, points: [x, y], patch: state.apply({ op: "none", data: {} }), spans: discSpans(radius), radius };
  touch(stroke, x, y);
  refreshAround(x, y, x, y);
}

function extendStroke(pixel) {
  const [x, y] = view.clamp(pixel), from = stroke.points.slice(-2);
  if (x === from[0] && y === from[1]) return;
  line(from[0], from[1], x, y, (px, py) => touch(stroke, px, py));
  stroke.points.push(x, y);
  refreshAround(Math.min(x, from[0]), Math.min(y, from[1]), Math.max(x, from[0]), Math.max(y, from[1]));
  if (stroke.points.length > 2 * MOST_POINTS) { endStroke(); beginStroke(pixel); }
}

function touch({ op, patch, spans }, x, y) {
  if (op === "erase") state.dab(patch, x, y, spans);
  else state.set(patch, x, y, ADDED);
}

function refreshAround(x0, y0, x1, y1) {
  const more = stroke.op === "erase" ? stroke.radius : 0;
  view.refresh([...view.clamp([x0 - more, y0 - more]), ...view.clamp([x1 + more, y1 + more])]);
}

function endStroke() {
  if (!stroke) return;
  const { op, points: path, patch, radius: size } = stroke;
  stroke = null;
  commit({ op, data: op === "erase" ? { radius: size, points: path } : { points: path } }, patch);
}

function dropStroke() {
  if (!stroke) return;
  state.revert(stroke.patch);
  if (stroke.patch.box) view.refresh(stroke.patch.box);
  stroke = null;
}

// --- pointers ----------------------------------------------------------------------------------------

const pointers = new Map();
let pinch = null, panning = null, pressed = null;

function listen() {
  const canvas = $("canvas");
  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", move);
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, up);
  canvas.addEventListener("pointerleave", () => { hover = null; view.invalidate(); });
  canvas.addEventListener("dblclick", () => { if (tool === "line" || tool === "wire") finishLine(); });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || !event.shiftKey) {
      view.zoomTo(view.scale * Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), ...view.place(event));
      showZoom();
    } else view.pan(-(event.deltaX || event.deltaY) * lines * view.ratio, 0);
  }, { passive: false });
  document.addEventListener("keydown", key);
  for (const button of document.querySelectorAll("[data-tool]")) button.addEventListener("click", () => choose(button.dataset.tool));
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => actions[button.dataset.do]());
  const slider = $("threshold");
  slider.addEventListener("input", () => previewThreshold(Number(slider.value)));
  slider.addEventListener("change", () => keepThreshold(Number(slider.value)));
  $("radius").addEventListener("input", () => setRadius(Number($("radius").value)));
  $("opacity").addEventListener("input", () => { view.opacity = Number($("opacity").value) / 100; view.invalidate(); });
  $("show-map").addEventListener("change", () => { view.showMap = $("show-map").checked; view.invalidate(); });
  $("show-photo").addEventListener("change", () => { view.showPhoto = $("show-photo").checked; view.invalidate(); });
  $("colours").addEventListener("change", () => setColours($("colours").value));
  $("import-file").addEventListener("change", importFile);
  window.addEventListener("beforeunload", (event) => { if (sync.waiting.length && sync.broken) event.preventDefault(); });
}

function down(event) {
  $("canvas").setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, event);
  cursor = null;
  if (pointers.size === 2) {
    dropStroke();
    pressed = null; panning = null;
    pinch = measurePinch();
    return;
  }
  if (pointers.size > 2) return;
  if (event.button === 1 || event.button === 2 || tool === "pan" || event.altKey) {
    panning = view.place(event);
    return;
  }
  if (event.button !== 0 || finished) return;
  const pixel = view.pixel(event);
  hover = pixel;
  if (tool === "erase") beginStroke(pixel);
  else if (tool === "delete") pressed = { pixel, event };
  else pressed = { pixel, event, drawing: false };
}

function move(event) {
  if (pointers.has(event.pointerId)) pointers.set(event.pointerId, event);
  if (pinch && pointers.size === 2) {
    const now = measurePinch();
    view.pan(now.x - pinch.x, now.y - pinch.y);
    view.zoomTo(view.scale * (now.far / pinch.far), now.x, now.y);
    pinch = now;
    showZoom();
    return;
  }
  if (panning) {
    const [x, y] = view.place(event);
    view.pan(x - panning[0], y - panning[1]);
    panning = [x, y];
    return;
  }
  const before = hover;
  hover = view.pixel(event);
  if (stroke) for (const one of event.getCoalescedEvents?.() ?? [event]) extendStroke(view.pixel(one));
  else if (pressed && tool === "line" && !points.length && moved(pressed.event, event)) {
    beginStroke(pressed.pixel);
    pressed = null;
    extendStroke(hover);
  }
  followWire();
  showPlace();
  if (tool === "erase") { markBrush(before); markBrush(hover); } else if (points.length) view.invalidate();
}

function up(event) {
  pointers.delete(event.pointerId);
  if (pinch) { if (pointers.size === 0) pinch = null; return; }
  if (panning) { panning = null; return; }
  if (stroke) { if (event.type === "pointercancel") dropStroke(); else endStroke(); return; }
  if (pressed && event.type === "pointerup") {
    if (tool === "delete") deleteAt(pressed.pixel);
    else if (event.detail < 2) addVertex(view.pixel(event));
  }
  pressed = null;
}

const moved = (first, now) => Math.hypot(now.clientX - first.clientX, now.clientY - first.clientY) > 6;

function measurePinch() {
  const [[ax, ay], [bx, by]] = [...pointers.values()].map((event) => view.place(event));
  return { x: (ax + bx) / 2, y: (ay + by) / 2, far: Math.max(1, Math.hypot(ax - bx, ay - by)) };
}

function markBrush(pixel) {
  if (!pixel) return;
  const more = radius + 2 + Math.ceil(3 / view.scale);
  view.invalidate([pixel[0] - more, pixel[1] - more, pixel[0] + more, pixel[1] + more]);
}

// --- what is drawn over the map ----------------------------------------------------------------------

function decorate(context, { scale, x, y, ratio }) {
  const shown = cursor ?? hover;
  if (points.length || preview.length) {
    const path = [];
    const push = (px, py) => path.push(px, py);
    const all = tool === "line" && shown && points.length ? [...points, ...view.clamp(shown)] : points;
    for (let i = 2; i < all.length; i += 2) line(all[i - 2], all[i - 1], all[i], all[i + 1], push);
    path.push(...points.slice(0, 2), ...preview);
    context.fillStyle = "#00c9e6";
    const size = Math.max(scale, 2);
    for (let i = 0; i < path.length; i += 2) context.fillRect(x + path[i] * scale, y + path[i + 1] * scale, size, size);
    const [ax, ay] = points.slice(-2);
    if (points.length) ring(context, x + (ax + 0.5) * scale, y + (ay + 0.5) * scale, Math.max(4, scale) * ratio);
  }
  if (!shown) return;
  const cx = x + (shown[0] + 0.5) * scale, cy = y + (shown[1] + 0.5) * scale;
  if (tool === "erase") ring(context, cx, cy, (radius + 0.5) * scale);
  if (cursor) {
    context.lineWidth = 3; context.strokeStyle = "#ffffff"; cross(context, cx, cy, 12 * ratio);
    context.lineWidth = 1.5; context.strokeStyle = "#000000"; cross(context, cx, cy, 12 * ratio);
  }
}

function ring(context, x, y, size) {
  for (const [width, colour] of [[3, "#ffffff"], [1.25, "#111111"]]) {
    context.lineWidth = width; context.strokeStyle = colour;
    context.beginPath(); context.arc(x, y, Math.max(2, size), 0, 2 * Math.PI); context.stroke();
  }
}

function cross(context, x, y, size) {
  context.beginPath();
  context.moveTo(x - size, y); context.lineTo(x + size, y);
  context.moveTo(x, y - size); context.lineTo(x, y + size);
  context.stroke();
}

// --- settings ----------------------------------------------------------------------------------------

function choose(name) {
  if (name !== tool) { finishLine(); dropStroke(); }
  tool = name;
  for (const button of document.querySelectorAll("[data-tool]")) button.setAttribute("aria-pressed", String(button.dataset.tool === name));
  document.body.dataset.tool = name;
  $("hint").textContent = hints[name];
  view.invalidate();
}

const hints = {
  erase: "Drag to erase.",
  delete: "Click an edge to delete all of it.",
  line: "Click corner after corner, Enter ends the line. Or just draw.",
  wire: "Click on an edge, move along it, click again. Enter ends the line.",
  pan: "Drag to move the image. The wheel zooms.",
};

function previewThreshold(level) {
  if (finished) return;
  state.threshold = level;
  view.refresh();
  showNumbers();
}

function keepThreshold(level) {
  const before = [...history.done].reverse().find((one) => one.edit.op === "threshold")?.edit.data.level;
  state.threshold = before ?? Number(setup.level);
  if (level === state.threshold) { view.refresh(); showNumbers(); return; }
  commit({ op: "threshold", data: { level } });
}

function stepThreshold(step) {
  const level = Math.min(256, Math.max(1, state.threshold + step));
  keepThreshold(level);
}

// Colours of proposed and added pixels, as 0xAABBGGRR; each pair differs in lightness too.
const palettes = { magenta: [0xffb81fff, 0xfff0f000], orange: [0xff0066ff, 0xffffd24d], lemon: [0xff00e5ff, 0xffff5a1f], green: [0xff2bd400, 0xffff66ff] };

function setColours(name) {
  view.palette(...palettes[name]);
  document.body.dataset.colours = name;
  try { localStorage.setItem("edgecritic:colours", name); } catch { /* not kept */ }
  view.refresh();
}

function nextColours() {
  const names = Object.keys(palettes), field = $("colours");
  field.value = names[(names.indexOf(field.value) + 1) % names.length];
  setColours(field.value);
}

function setRadius(value) {
  radius = Math.min(64, Math.max(0, value));
  $("radius").value = radius;
  $("radius-text").textContent = `${2 * radius + 1} px`;
  view.invalidate();
}

function zoom(scale) { view.zoomTo(scale * view.ratio, ...centre()); showZoom(); }

function centre() {
  const at = cursor ?? hover;
  if (!at) return [view.canvas.width / 2, view.canvas.height / 2];
  return [view.x + (at[0] + 0.5) * view.scale, view.y + (at[1] + 0.5) * view.scale];
}

// --- keyboard ----------------------------------------------------------------------------------------

const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const keys = {
  e: () => choose("erase"), d: () => choose("delete"), p: () => choose("line"), l: () => choose("wire"), h: () => choose("pan"),
  "[": () => setRadius(radius - 1), "]": () => setRadius(radius + 1),
  "+": () => zoom((view.scale / view.ratio) * 1.5), "=": () => zoom((view.scale / view.ratio) * 1.5),
  "-": () => zoom(view.scale / view.ratio / 1.5),
  0: () => actions.fit(), 1: () => zoom(1), 2: () => zoom(2), 4: () => zoom(4), 8: () => zoom(8),
  ",": () => stepThreshold(-4), ".": () => stepThreshold(4), "<": () => stepThreshold(-1), ">": () => stepThreshold(1),
  c: () => nextColours(), x: () => actions.despeckle(), m: () => $("show-map").click(), i: () => $("show-photo").click(), j: () => $("scope").click(),
  n: () => document.querySelector("[data-go=after]")?.click(), b: () => document.querySelector("[data-go=before]")?.click(),
  "?": () => $("help").showModal(),
  Enter: () => finishLine(), Escape: () => { dropStroke(); cancelLine(); cursor = null; view.invalidate(); },
  Backspace: () => { if (points.length) undo(); },
  " ": () => actAtCursor(),
};

function key(event) {
  if (document.querySelector("dialog[open]")) return;
  const field = event.target.closest("input, button, a, select");
  if (field && field.type === "number" && !event.ctrlKey && !event.metaKey) return;
  if (event.ctrlKey || event.metaKey) {
    const name = event.key.toLowerCase();
    if (name === "z") { event.preventDefault(); if (event.shiftKey) redo(); else undo(); }
    if (name === "y") { event.preventDefault(); redo(); }
    if (event.key === "Enter") { event.preventDefault(); actions.submit(); }
    return;
  }
  if (event.altKey) return;
  if (steps[event.key] && !(field && field.type === "range")) {
    event.preventDefault();
    moveCursor(steps[event.key], event.shiftKey ? 10 : 1);
    return;
  }
  if (field && [" ", "Enter"].includes(event.key) && field.id !== "canvas") return;
  const act = keys[event.key] ?? keys[event.key.toLowerCase()];
  if (act) { event.preventDefault(); act(); }
}

function moveCursor([dx, dy], step) {
  const from = cursor ?? hover ?? [Math.round((view.canvas.width / 2 - view.x) / view.scale), Math.round((view.canvas.height / 2 - view.y) / view.scale)];
  cursor = view.clamp([from[0] + dx * step, from[1] + dy * step]);
  hover = cursor;
  view.showPixel(...cursor);
  followWire();
  showPlace();
  view.invalidate();
}

function actAtCursor() {
  const at = cursor ?? hover;
  if (!at || finished) return;
  if (tool === "erase") { beginStroke(at); endStroke(); }
  else if (tool === "delete") deleteAt(at);
  else if (tool === "line" || tool === "wire") addVertex(at);
}

// --- buttons -----------------------------------------------------------------------------------------

const actions = {
  undo, redo, fit: () => { view.fit(); showZoom(); }, help: () => $("help").showModal(),
  "zoom-in": () => { hover = null; zoom((view.scale / view.ratio) * 1.5); }, "zoom-out": () => { hover = null; zoom(view.scale / view.ratio / 1.5); },
  full: () => { hover = null; zoom(8); },
  finish: finishLine,
  clear: () => commit({ op: "clear", data: {} }),
  despeckle: () => {
    const size = Math.min(1000, Math.max(2, Math.round(Number($("speck").value)) || 8));
    const before = state.count();
    $("speck").value = size;
    commit({ op: "despeckle", data: { size } });
    say(`${(before - state.count()).toLocaleString("en")} pixels in specks removed.`);
  },
  import: () => $("import-file").click(),
  panel: () => { document.body.dataset.panel = document.body.dataset.panel === "open" ? "" : "open"; },
  submit: async () => {
    finishLine();
    if (!(await sync.settled())) return;
    $("submit-count").textContent = state.count().toLocaleString("en");
    $("submit-dialog").showModal();
  },
  "submit-yes": async () => {
    try {
      await send(`${work}/submit`, { json: { count: sync.next } });
      location.assign(`${work}/compare`);
    } catch (failure) { $("submit-dialog").close(); say(failure.message); }
  },
  "submit-no": () => $("submit-dialog").close(),
  close: () => $("help").close(),
  reload: () => { sync.forget(); location.reload(); },
};

async function importFile() {
  const [file] = $("import-file").files;
  if (!file) return;
  if (!(await sync.settled())) return;
  try {
    await send(`${work}/import`, { body: file });
    location.reload();
  } catch (failure) { say(failure.message); }
  $("import-file").value = "";
}

// --- what is told ------------------------------------------------------------------------------------

function showState(kind, count, message = "") {
  const words = {
    saved: "Saved", saving: "Saving…", offline: `Offline: ${count} kept here`, refused: message || "Not saved",
  };
  $("state").textContent = finished ? "Submitted" : words[kind];
  $("state").dataset.kind = kind;
  $("reload").hidden = kind !== "refused";
}

function showNumbers() {
  $("threshold").value = state.threshold;
  $("threshold-text").textContent = state.threshold > 255 ? "none" : `${((state.threshold / 255) ** 2 * 100).toFixed(1)} %`;
  document.querySelector("[data-do=undo]").disabled = finished || !(history.done.length || points.length);
  document.querySelector("[data-do=redo]").disabled = finished || !history.undone.length;
  $("count").textContent = `${state.count().toLocaleString("en")} px`;
  $("edits").textContent = `${history.done.length} edits`;
  showZoom();
}

function showZoom() { $("zoom").textContent = `${Math.round((view.scale / view.ratio) * 100)} %`; }
function showPlace() { const at = cursor ?? hover; $("place").textContent = at ? `${at[0]}, ${at[1]}` : ""; }

let saying = 0;
function say(message) {
  $("message").textContent = message;
  $("message").hidden = false;
  clearTimeout(saying);
  saying = setTimeout(() => { $("message").hidden = true; }, 5000);
}

start().catch((error) => say(error.message));
