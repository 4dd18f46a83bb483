// The forced-choice experiment: a photo, two segments or two edge maps, one choice.

import { displayOf, fitted, inputOf, isNarrow, PHOTO_SHARE } from "./display.js";
import { get, wait } from "./net.js";
import { Outbox } from "./outbox.js";
import { Photos, paintMarked, paintSegment, paintWhole } from "./stimulus.js";
import { fill } from "./words.js";

const $ = (id) => document.getElementById(id);
const setup = document.querySelector("main").dataset;
const base = setup.base, isPreview = setup.preview === "yes";
const store = `edgecritic:answers:${location.host}:${base.split("/")[2]}`;
const visit = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, "0")).join("");
const LEAST_MS = 200, LOOK_MS = 2500, SPOT = 44;

let slots = [], texts = {}, plan = {}, boxes = {}, scale = 1, lines = true;
let at = -1, shownAt = 0, open = false, sinceBreak = 0, turn = 0, before = 0;
const photos = new Photos((image) => `${setup.photos}/${image}/photo`);
const maps = new Photos((place) => `${base}/maps/${place}`);
const nowhere = { waiting: [], refused: [], stored: 0, ended: false, put() {}, flush() {}, async settled() { return true; } };
const outbox = isPreview ? nowhere : new Outbox(`${base}/answers`, store, { onState: tellNet, onEnd: end });
const say = (name, values) => fill(texts[name] ?? name, values);
const ask = (name) => say(`${name}_${plan.maps ? "maps" : "segments"}`);

async function start() {
  await loadSchedule();
  if (outbox.ended) return;
  outbox.flush();
  show("intro");
  $("begin").disabled = false;
  $("begin").addEventListener("click", next);
  $("go-on").addEventListener("click", next);
  $("ready-go").addEventListener("click", next);
  $("pause").addEventListener("click", rest);
  for (const button of document.querySelectorAll("[data-side]")) button.addEventListener("click", (event) => choose(sideOf(button, event), inputOf(event)));
  $("peek")?.addEventListener("click", () => togglePeek());
  $("tie")?.addEventListener("click", (event) => choose("tie", inputOf(event)));
  document.addEventListener("keydown", key);
  document.addEventListener("visibilitychange", () => { if (document.hidden && open) rest(); });
  window.addEventListener("pagehide", () => { if (open) interrupt(); });
  window.addEventListener("resize", resize);
  if (!isPreview) setInterval(look, LOOK_MS);
  document.body.dataset.ready = "yes";
}

/** Load the schedule; wait for a connection if there is none. */
async function loadSchedule() {
  for (let pause = 500; ; pause = Math.min(2 * pause, 4000)) {
    try {
      const schedule = await get(`${base}/schedule`);
      $("net").textContent = "";
      ({ slots, texts, ...plan } = schedule);
      const kept = new Set(outbox.waiting.map((answer) => answer.slot));
      before = slots.filter((slot) => slot.answered).length;
      outbox.stored = 0;
      for (const slot of slots) if (kept.has(slot.slot)) slot.answered = true;
      return;
    } catch (failure) {
      if (isEnd(failure)) { outbox.end(failure); return; }
      $("net").textContent = setup.offline;
      await wait(pause);
    }
  }
}

/** Ask whether answers are still taken, so that nobody works for nothing. */
async function look() {
  if (outbox.ended || document.hidden) return;
  try { await get(`${base}/state`); } catch (failure) { if (isEnd(failure)) outbox.end(failure); }
}

const isEnd = (failure) => failure.status === 403 || failure.status === 404;

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const name = event.key.toLowerCase();
  if (open) {
    const hasSides = plan.maps || plan.enlarged;
    if (name === "f" || (name === "arrowleft" && hasSides)) { event.preventDefault(); choose("left", "key"); }
    if (name === "j" || (name === "arrowright" && hasSides)) { event.preventDefault(); choose("right", "key"); }
    if (name === "h" && $("peek")) togglePeek();
    if (name === "t" && $("tie")) choose("tie", "key");
    if (name === "escape") rest();
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

/** Show the next trial, as soon as its photo is there; until then nothing of another one is seen. */
async function next() {
  const mine = ++turn;
  at = slots.findIndex((slot) => !slot.answered);
  if (at < 0) { await finish(); return; }
  const slot = slots[at];
  show("trial");
  $("trial").classList.add("blank");
  $("position").textContent = "";
  $("feedback").textContent = "";
  const image = await photo(slot, mine);
  if (mine !== turn || outbox.ended) return;
  slot.bitmap = image;
  if (!hasRoom(slot)) { show("small"); return; }
  const asked = slots.filter((one) => !one.practice);
  $("done").max = asked.length;
  $("done").value = asked.filter((one) => one.answered).length;
  $("position").textContent = slot.practice ? say("practice") : say("position", { at: $("done").value + 1, total: asked.length });
  $("feedback").textContent = ask("question");
  recall(slot);
  lines = true;
  paint();
  const ahead = slots.slice(at + 1).find((one) => !one.answered);
  if (ahead) photos.ahead(ahead.image);
  if (ahead && plan.maps) for (const side of ["left", "right"]) maps.ahead(`${ahead.slot}/${side}`);
  requestAnimationFrame(() => {
    if (mine !== turn || outbox.ended) return;
    $("trial").classList.remove("blank");
    shownAt = performance.now();
    open = true;
    document.body.dataset.slot = slot.slot;
  });
}

/** Return the photo of a trial, however long it takes; say that it is waited for. */
async function photo(slot, mine) {
  const slow = setTimeout(() => { if (mine === turn) $("feedback").textContent = say("loading"); }, 300);
  try {
    for (let pause = 500; mine === turn && !outbox.ended; pause = Math.min(2 * pause, 4000)) {
      try {
        const image = await photos.get(slot.image);
        if (plan.maps) slot.maps = await Promise.all(["left", "right"].map((side) => maps.get(`${slot.slot}/${side}`)));
        return image;
      } catch (failure) {
        if (isEnd(failure)) await look();
        if (mine === turn) $("feedback").textContent = say("photo_failed");
        await wait(pause);
      }
    }
    return null;
  } finally { clearTimeout(slow); }
}

/** Tell whether a trial may be shown in this window; the page says how large it must be if not. */
function hasRoom(slot) {
  const fit = fitted(slot.bitmap, plan.size, plan.maps);
  $("small-text").textContent = say("small_text", fit);
  return !plan.need_size || !fit.isSmall;
}

/** A window of another size: the trial is drawn anew, or waits until there is room. */
function resize() {
  if (document.body.dataset.part === "small") { next(); return; }
  if (!open) return;
  if (hasRoom(slots[at])) { paint(); return; }
  interrupt();
  turn++;
  show("small");
}

function paint() {
  const slot = slots[at], image = slot.bitmap;
  if (!image) return;
  ({ scale } = fitted(image, plan.size, plan.maps));
  if (plan.maps) {
    paintWhole($("left-canvas"), slot.maps[0], scale);
    paintWhole($("right-canvas"), slot.maps[1], scale);
    paintWhole($("photo"), image, PHOTO_SHARE * scale);
    return;
  }
  boxes = paintMarked($("photo"), image, slot, plan.square, scale, lines);
  paintWhole($("unmarked"), image, scale);
  for (const side of ["left", "right"]) place($(side), boxes[side]);
  if (!plan.enlarged) return;
  const side = Math.min(plan.size / 2, isNarrow() ? window.innerWidth / 2 - 36 : Infinity);
  for (const one of ["left", "right"]) paintSegment($(`${one}-canvas`), image, slot[one], plan.square, side, lines);
}

/** Put the button of a square over it, large enough for a finger. */
function place(button, { x, y, width, height }) {
  const size = [Math.max(width, SPOT), Math.max(height, SPOT)];
  Object.assign(button.style, {
    left: `${x + (width - size[0]) / 2}px`, top: `${y + (height - size[1]) / 2}px`, width: `${size[0]}px`, height: `${size[1]}px`,
  });
}

/** The side of a click: where the buttons of two squares overlap, that of the nearer square. */
function sideOf(button, event) {
  if (!button.classList.contains("spot") || event.detail === 0) return button.dataset.side;
  const frame = $("photo").getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
  const far = (side) => Math.hypot(x - boxes[side].x - boxes[side].width / 2, y - boxes[side].y - boxes[side].height / 2);
  return far("left") <= far("right") ? "left" : "right";
}

function togglePeek() {
  lines = !lines;
  $("peek").setAttribute("aria-pressed", String(!lines));
  paint();
}

/** Put a trial aside: how long it was seen goes on counting when it is shown again, and the answer tells how often. */
function interrupt() {
  const slot = slots[at];
  slot.seen = (slot.seen ?? 0) + performance.now() - shownAt;
  slot.pauses = (slot.pauses ?? 0) + 1;
  open = false;
  delete document.body.dataset.slot;
  try { localStorage.setItem(`${store}:open`, JSON.stringify({ slot: slot.slot, seen: slot.seen, pauses: slot.pauses })); } catch { /* known to this page only */ }
}

/** Take over that a trial was seen before this page was opened. */
function recall(slot) {
  try {
    const kept = JSON.parse(localStorage.getItem(`${store}:open`) ?? "null");
    if (kept?.slot === slot.slot) { slot.seen = kept.seen; slot.pauses = kept.pauses; }
  } catch { /* nothing is known */ }
}

function rest() {
  if (open) interrupt();
  turn++;
  show("rest");
  tellRest();
}

async function choose(side, input) {
  if (!open) return;
  const now = performance.now() - shownAt;
  if (now < LEAST_MS) return;
  const mine = ++turn, slot = slots[at], reaction = Math.round((slot.seen ?? 0) + now);
  open = false;
  delete document.body.dataset.slot;
  $("peek")?.setAttribute("aria-pressed", "false");
  slot.answered = true;
  slot.bitmap = slot.maps = null;
  try { localStorage.removeItem(`${store}:open`); } catch { /* there was none */ }
  outbox.put({ slot: slot.slot, side, reaction_ms: Math.min(reaction, 3600000), pauses: Math.min(slot.pauses ?? 0, 1000), visit, display: displayOf(scale, input), at: Date.now() });
  $(side)?.classList.add("chosen");
  if (slot.practice) {
    $("feedback").textContent = ask(side === slot.expected ? "right" : "wrong");
    await wait(side === slot.expected ? 900 : 1800);
  } else await wait(120);
  $(side)?.classList.remove("chosen");
  if (mine !== turn || outbox.ended) return;
  const practised = slot.practice && !slots.some((one) => one.practice && !one.answered);
  if (practised) { show("ready"); return; }
  if (plan.break_every && ++sinceBreak >= plan.break_every && slots.some((one) => !one.answered)) { sinceBreak = 0; rest(); return; }
  next();
}

function tellNet(kind, count) {
  if (kind === "offline") $("net").textContent = say("offline_answers", { count });
  if (kind === "stored") $("net").textContent = "";
  tellRest();
}

function tellRest() {
  const count = outbox.waiting.length;
  $("rest-text").textContent = count ? say("break_waiting", { count }) : say("break_stored");
}

/** All trials are answered: wait until the server says so too. */
async function finish() {
  if (isPreview) { location.assign(`${base}/end`); return; }
  show("sending");
  await outbox.settled();
  for (let pause = 500; !outbox.ended; pause = Math.min(2 * pause, 4000)) {
    try {
      const { answered, total } = await get(`${base}/state`);
      if (answered === total) { location.replace(`${base}/`); return; }
      $("net").textContent = say("give_again", { count: total - answered });
      await loadSchedule();
      if (!outbox.ended) { await wait(1500); next(); }
      return;
    } catch (failure) {
      if (isEnd(failure)) { outbox.end(failure); return; }
      await wait(pause);
    }
  }
}

/** No more answers are taken: say why, and what is stored. */
function end(failure) {
  turn++;
  open = false;
  delete document.body.dataset.slot;
  if (failure.code === "early") { location.replace(`${base}/`); return; }
  const code = `${failure.code}_title` in texts ? failure.code : "unknown";
  $("gone-head").textContent = texts[`${code}_title`] ?? failure.message;
  const stored = before + outbox.stored, lost = outbox.waiting.length + outbox.refused.length;
  const parts = [texts[`${code}_text`] ?? ""];
  if (slots.length && code !== "deleted") parts.push(say("stored", { count: stored }));
  if (lost) parts.push(say("too_late", { count: lost }));
  $("gone-text").textContent = parts.join(" ");
  $("net").textContent = "";
  show("gone");
}

start().catch((error) => { $("net").textContent = error.message; });
