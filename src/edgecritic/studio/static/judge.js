// The forced-choice experiment: a photo, two segments, one choice.

import { get, send, wait } from "./net.js";

const $ = (id) => document.getElementById(id);
const setup = document.querySelector("main").dataset;
const base = `/g/${setup.guest}`;
const store = `edgecritic:answers:${location.host}:${setup.guest}`;
const BREAK_EVERY = 40;
const LEAST_MS = 200;
const QUESTION = "Which one is the stronger boundary?";

let slots = [], square = 21, at = -1, shownAt = 0, open = false, sinceBreak = 0;
let waiting = [];
let sending = null;
const photos = new Map();

async function start() {
  try { waiting = JSON.parse(localStorage.getItem(store) ?? "[]"); } catch { waiting = []; }
  const schedule = await get(`${base}/schedule`);
  slots = schedule.slots;
  square = schedule.square;
  const kept = new Set(waiting.map((answer) => answer.slot));
  for (const slot of slots) if (kept.has(slot.slot)) slot.answered = true;
  flush();
  show("intro");
  $("begin").disabled = false;
  $("begin").addEventListener("click", next);
  $("go-on").addEventListener("click", next);
  $("pause").addEventListener("click", () => { open = false; show("rest"); });
  for (const side of ["left", "right"]) $(side).addEventListener("click", () => choose(side));
  $("peek").addEventListener("click", () => togglePeek());
  document.addEventListener("keydown", key);
  document.addEventListener("visibilitychange", () => { if (document.hidden && open) { open = false; show("rest"); } });
  window.addEventListener("resize", () => { if (open) paint(); });
  document.body.dataset.ready = "yes";
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const name = event.key.toLowerCase();
  if (open) {
    if (name === "f" || name === "arrowleft") { event.preventDefault(); choose("left"); }
    if (name === "j" || name === "arrowright") { event.preventDefault(); choose("right"); }
    if (name === "h") togglePeek();
    if (name === "escape") $("pause").click();
  } else if ((name === " " || name === "enter") && !event.target.closest("button")) {
    const button = document.querySelector("section:not([hidden]) button.main:not([disabled])");
    if (button) { event.preventDefault(); button.click(); }
  }
}

function show(name) {
  for (const part of document.querySelectorAll("main > section")) part.hidden = part.id !== name;
  document.body.dataset.part = name;
  const button = document.querySelector(`#${name} button.main`);
  if (button) button.focus();
}

async function next() {
  at = slots.findIndex((slot) => !slot.answered);
  if (at < 0) { await finish(); return; }
  const slot = slots[at];
  show("trial");
  $("feedback").textContent = QUESTION;
  const rest = slots.filter((one) => !one.practice);
  $("done").max = rest.length;
  $("done").value = rest.filter((one) => one.answered).length;
  $("position").textContent = slot.practice ? "practice" : `${$("done").value + 1} of ${rest.length}`;
  await photo(slot);
  paint();
  prefetch();
  requestAnimationFrame(() => { shownAt = performance.now(); open = true; document.body.dataset.slot = slot.slot; });
}

async function photo(slot) {
  if (!photos.has(slot.image)) {
    photos.set(slot.image, fetch(`${base}/images/${slot.image}/photo`).then((reply) => {
      if (!reply.ok) throw new Error("The photo could not be loaded.");
      return reply.blob();
    }).then((blob) => createImageBitmap(blob)));
  }
  slot.bitmap = await photos.get(slot.image);
}

function prefetch() {
  const ahead = slots.slice(at + 1).find((slot) => !slot.answered);
  if (ahead) photo(ahead).catch(() => photos.delete(ahead.image));
  if (photos.size > 12) photos.delete(photos.keys().next().value);
}

function paint(lines = true) {
  const slot = slots[at], image = slot.bitmap;
  if (!image) return;
  for (const side of ["left", "right"]) paintSegment($(`${side}-canvas`), image, slot[side], lines);
  paintPhoto($("photo"), image, slot);
}

function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
  canvas.width = Math.max(1, Math.round(box.width * ratio));
  canvas.height = Math.max(1, Math.round(box.height * ratio));
  return canvas.getContext("2d");
}

/** The segment enlarged, with as much around it again. */
function paintSegment(canvas, image, [cx, cy, ...pixels], lines) {
  const context = prepare(canvas), span = 2 * square + 1, reach = square;
  const scale = canvas.width / span;
  context.imageSmoothingEnabled = false;
  context.fillStyle = "#777";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, (reach - cx) * scale, (reach - cy) * scale, image.width * scale, image.height * scale);
  if (!lines) return;
  for (const [colour, inset] of [["#ffffff", 0.04], ["#e8002a", 0.22]]) {
    context.fillStyle = colour;
    for (let i = 0; i < pixels.length; i += 2) {
      const x = (pixels[i] - cx + reach + inset) * scale, y = (pixels[i + 1] - cy + reach + inset) * scale;
      context.fillRect(x, y, (1 - 2 * inset) * scale, (1 - 2 * inset) * scale);
    }
  }
}

/** The whole photo with both squares in their places. */
function paintPhoto(canvas, image, slot) {
  canvas.style.aspectRatio = `${image.width} / ${image.height}`;
  const context = prepare(canvas), scale = Math.min(canvas.width / image.width, canvas.height / image.height);
  const ratio = window.devicePixelRatio || 1;
  context.drawImage(image, 0, 0, image.width * scale, image.height * scale);
  context.font = `bold ${13 * ratio}px system-ui, sans-serif`;
  for (const [side, label] of [["left", "F"], ["right", "J"]]) {
    const [cx, cy] = slot[side], half = square / 2;
    const x = (cx + 0.5 - half) * scale, y = (cy + 0.5 - half) * scale, size = square * scale;
    for (const [width, colour] of [[4 * ratio, "#000"], [2 * ratio, "#fff"]]) {
      context.lineWidth = width; context.strokeStyle = colour; context.strokeRect(x, y, size, size);
    }
    const ty = y > 20 * ratio ? y - 6 * ratio : y + size + 14 * ratio;
    context.lineWidth = 4 * ratio; context.strokeStyle = "#000"; context.strokeText(label, x, ty);
    context.fillStyle = "#fff"; context.fillText(label, x, ty);
  }
}

function togglePeek() {
  const pressed = $("peek").getAttribute("aria-pressed") === "true";
  $("peek").setAttribute("aria-pressed", String(!pressed));
  paint(pressed);
}

async function choose(side) {
  if (!open) return;
  const reaction = Math.round(performance.now() - shownAt);
  if (reaction < LEAST_MS) return;
  open = false;
  delete document.body.dataset.slot;
  $("peek").setAttribute("aria-pressed", "false");
  const slot = slots[at];
  slot.answered = true;
  slot.bitmap = null;
  waiting.push({ slot: slot.slot, side, reaction_ms: Math.min(reaction, 3600000), at: Date.now() });
  keep();
  flush();
  $(side).classList.add("chosen");
  if (slot.practice) {
    $("feedback").textContent = side === slot.expected ? "Right: there the image really changes." : "Look again: the other one is the stronger boundary.";
    await wait(side === slot.expected ? 900 : 1800);
  } else await wait(120);
  $(side).classList.remove("chosen");
  const practised = slot.practice && !slots.some((one) => one.practice && !one.answered);
  if (practised) { show("ready"); $("ready-go").onclick = next; return; }
  if (++sinceBreak >= BREAK_EVERY && slots.some((one) => !one.answered)) { sinceBreak = 0; show("rest"); return; }
  next();
}

function keep() {
  try {
    if (waiting.length) localStorage.setItem(store, JSON.stringify(waiting));
    else localStorage.removeItem(store);
  } catch { /* the store is off: the queue in memory stays */ }
}

function flush() {
  sending ??= work().finally(() => { sending = null; });
  return sending;
}

async function work() {
  let pause = 400;
  while (waiting.length) {
    try {
      await send(`${base}/answers`, { json: waiting[0] });
      waiting.shift();
      keep();
      $("net").textContent = "";
      pause = 400;
    } catch (failure) {
      if (failure.status === 403 || failure.status === 404) { waiting = []; keep(); open = false; show("gone"); return; }
      if (failure.status === 400) { waiting.shift(); keep(); continue; }
      $("net").textContent = "No connection: your answers are kept here and will be sent.";
      await wait(pause);
      pause = Math.min(2 * pause, 8000);
    }
  }
}

async function finish() {
  show("sending");
  while (waiting.length) await flush();
  if (document.body.dataset.part !== "gone") show("end");
}

start().catch((error) => { $("net").textContent = error.message; });
