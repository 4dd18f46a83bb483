// The forced-choice experiment: a photo, two segments or two edge maps, one choice.

import { get, wait } from "./net.js";
import { Outbox } from "./outbox.js";
import { Photos, paintPhoto, paintSegment, paintWhole } from "./stimulus.js";

const $ = (id) => document.getElementById(id);
const setup = document.querySelector("main").dataset;
const base = `/g/${setup.guest}`;
const store = `edgecritic:answers:${location.host}:${setup.guest}`;
const visit = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, "0")).join("");
const BREAK_EVERY = 40, LEAST_MS = 200, LOOK_MS = 2500;
const OF_MAPS = setup.maps === "yes";
const QUESTION = OF_MAPS ? "Which is the better edge map?" : "Which one is the stronger boundary?";
const RIGHT = OF_MAPS ? "Right: that one shows the things of the photo." : "Right: there the image really changes.";
const WRONG = OF_MAPS ? "Look again: the other one shows the things of the photo." : "Look again: the other one is the stronger boundary.";

let slots = [], square = 21, at = -1, shownAt = 0, open = false, sinceBreak = 0, turn = 0, before = 0;
const photos = new Photos((image) => `${base}/images/${image}/photo`);
const maps = new Photos((place) => `${base}/maps/${place}`);
const outbox = new Outbox(`${base}/answers`, store, { onState: tellNet, onEnd: end });

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
  for (const side of ["left", "right"]) $(side).addEventListener("click", () => choose(side));
  $("peek")?.addEventListener("click", () => togglePeek());
  $("tie")?.addEventListener("click", () => choose("tie"));
  document.addEventListener("keydown", key);
  document.addEventListener("visibilitychange", () => { if (document.hidden && open) rest(); });
  window.addEventListener("pagehide", () => { if (open) interrupt(); });
  window.addEventListener("resize", () => { if (open) paint(); });
  setInterval(look, LOOK_MS);
  document.body.dataset.ready = "yes";
}

/** Load the schedule; wait for a connection if there is none. */
async function loadSchedule() {
  for (let pause = 500; ; pause = Math.min(2 * pause, 4000)) {
    try {
      const schedule = await get(`${base}/schedule`);
      $("net").textContent = "";
      ({ slots, square } = schedule);
      const kept = new Set(outbox.waiting.map((answer) => answer.slot));
      before = slots.filter((slot) => slot.answered).length;
      outbox.stored = 0;
      for (const slot of slots) if (kept.has(slot.slot)) slot.answered = true;
      return;
    } catch (failure) {
      if (isEnd(failure)) { outbox.end(failure); return; }
      $("net").textContent = "No connection. The page goes on by itself as soon as there is one.";
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
    if (name === "f" || name === "arrowleft") { event.preventDefault(); choose("left"); }
    if (name === "j" || name === "arrowright") { event.preventDefault(); choose("right"); }
    if (name === "h" && $("peek")) togglePeek();
    if (name === "t" && $("tie")) choose("tie");
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
  const asked = slots.filter((one) => !one.practice);
  $("done").max = asked.length;
  $("done").value = asked.filter((one) => one.answered).length;
  $("position").textContent = slot.practice ? "practice" : `${$("done").value + 1} of ${asked.length}`;
  $("feedback").textContent = QUESTION;
  slot.bitmap = image;
  recall(slot);
  paint();
  const ahead = slots.slice(at + 1).find((one) => !one.answered);
  if (ahead) photos.ahead(ahead.image);
  if (ahead && OF_MAPS) for (const side of ["left", "right"]) maps.ahead(`${ahead.slot}/${side}`);
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
  const slow = setTimeout(() => { if (mine === turn) $("feedback").textContent = "Loading the photo…"; }, 300);
  try {
    for (let pause = 500; mine === turn && !outbox.ended; pause = Math.min(2 * pause, 4000)) {
      try {
        const image = await photos.get(slot.image);
        if (OF_MAPS) slot.maps = await Promise.all(["left", "right"].map((side) => maps.get(`${slot.slot}/${side}`)));
        return image;
      } catch (failure) {
        if (isEnd(failure)) await look();
        if (mine === turn) $("feedback").textContent = "The photo cannot be loaded. The page goes on by itself as soon as there is a connection.";
        await wait(pause);
      }
    }
    return null;
  } finally { clearTimeout(slow); }
}

function paint(lines = true) {
  const slot = slots[at], image = slot.bitmap;
  if (!image) return;
  if (OF_MAPS) {
    paintWhole($("left-canvas"), slot.maps[0]);
    paintWhole($("right-canvas"), slot.maps[1]);
    paintWhole($("photo"), image);
    return;
  }
  for (const side of ["left", "right"]) paintSegment($(`${side}-canvas`), image, slot[side], square, lines);
  paintPhoto($("photo"), image, slot, square);
}

function togglePeek() {
  const pressed = $("peek").getAttribute("aria-pressed") === "true";
  $("peek").setAttribute("aria-pressed", String(!pressed));
  paint(pressed);
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

async function choose(side) {
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
  outbox.put({ slot: slot.slot, side, reaction_ms: Math.min(reaction, 3600000), pauses: Math.min(slot.pauses ?? 0, 1000), visit, at: Date.now() });
  $(side)?.classList.add("chosen");
  if (slot.practice) {
    $("feedback").textContent = side === slot.expected ? RIGHT : WRONG;
    await wait(side === slot.expected ? 900 : 1800);
  } else await wait(120);
  $(side)?.classList.remove("chosen");
  if (mine !== turn || outbox.ended) return;
  const practised = slot.practice && !slots.some((one) => one.practice && !one.answered);
  if (practised) { show("ready"); return; }
  if (++sinceBreak >= BREAK_EVERY && slots.some((one) => !one.answered)) { sinceBreak = 0; rest(); return; }
  next();
}

function tellNet(kind, count) {
  if (kind === "offline") $("net").textContent = `No connection: ${answers(count)} ${count === 1 ? "is" : "are"} kept here and will be sent.`;
  if (kind === "stored") $("net").textContent = "";
  tellRest();
}

function tellRest() {
  const count = outbox.waiting.length;
  $("rest-text").textContent = count
    ? `${answers(count)} ${count === 1 ? "is" : "are"} kept in this browser and not stored yet. Leave the page open until there is a connection.`
    : "Your answers are stored. Go on when you like, here or from another device with the same link.";
}

const answers = (count) => (count === 1 ? "1 answer" : `${count} answers`);

/** All trials are answered: wait until the server says so too. */
async function finish() {
  show("sending");
  await outbox.settled();
  for (let pause = 500; !outbox.ended; pause = Math.min(2 * pause, 4000)) {
    try {
      const { answered, total } = await get(`${base}/state`);
      if (answered === total) { $("end-text").textContent = `All your answers, ${total} with the practice, are stored. You can close this page.`; show("end"); return; }
      $("net").textContent = `${answers(total - answered)} could not be stored; please give ${total - answered === 1 ? "it" : "them"} again.`;
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
  const heads = { closed: "The experiment was closed", revoked: "The invitation was taken back", expired: "The invitation has expired", unknown: "Open your link again" };
  $("gone-head").textContent = heads[failure.code] ?? "No more answers are taken";
  const stored = before + outbox.stored, lost = outbox.waiting.length + outbox.refused.length;
  const parts = [failure.message];
  if (slots.length) parts.push(`${answers(stored)} of yours ${stored === 1 ? "is" : "are"} stored. Thank you.`);
  if (lost) parts.push(`${answers(lost)} came too late and ${lost === 1 ? "is" : "are"} not stored.`);
  $("gone-text").textContent = parts.join(" ");
  $("net").textContent = "";
  show("gone");
}

start().catch((error) => { $("net").textContent = error.message; });
