// The viewer: a wall of all images, and a page for each; which of them is shown is in the address.

import { ImagePage } from "./image.js";
import { json } from "./net.js";
import { read, write } from "./state.js";
import { Wall, fill } from "./wall.js";

const $ = (id) => document.getElementById(id);
const OF_WALL = ["c", "sort", "order", "q", "a", "b", "low", "high"], QUIET = 250, LOOK_AGAIN = 2000;

let gallery, wall, page, state = read(location.hash), shown = "", written = 0;

function tell(text) {
  $("message").textContent = text;
  $("message").hidden = false;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { $("message").hidden = true; }, 6000);
}

/** Take over a part of the state; `quiet` changes are on the screen already. */
function change(part, { quiet = false } = {}) {
  state = { ...state, ...part };
  clearTimeout(written);
  written = setTimeout(() => history.replaceState(null, "", write(state)), QUIET);
  if (!quiet) show();
}

/** Write what is still to be written into the address. */
function settle() { clearTimeout(written); history.replaceState(null, "", write(state)); }

const wallState = () => Object.fromEntries(OF_WALL.map((name) => [name, state[name]]));
const addressOf = (image) => write({ ...state, i: image.id, t: undefined, w: undefined, at: undefined, zoom: undefined });

/** Go to the image that is so many places further on the wall. */
function go(by) {
  if (!wall.state) wall.show(wallState());
  const order = wall.order.map((at) => gallery.images[at].id), at = order.indexOf(state.i);
  const to = order[(at + by + order.length) % order.length];
  if (!to || to === state.i) return;
  state = { ...state, i: to, t: undefined, w: undefined, at: undefined, zoom: undefined };
  history.pushState(null, "", write(state));
  show();
}

/** The class that the state names, else the first; null where no classes are judged. */
const classOf = () => (gallery.classes.includes(state.c) ? state.c : gallery.classes[0] ?? null);
const galleryPath = (wanted) => `/gallery${wanted === null ? "" : `?c=${encodeURIComponent(wanted)}`}`;

/** Show the state; the numbers of another class are fetched before. */
async function show() {
  const wanted = classOf();
  if (wanted !== gallery.class) {
    document.body.dataset.ready = "no";
    let next;
    try { next = await json(galleryPath(wanted)); } catch (error) { tell(error.message); return; }
    if (wanted !== classOf()) return; // another one was chosen meanwhile
    Object.assign(gallery, next);
  }
  about();
  showNow();
}

function about() {
  const scores = gallery.detectors.map((one) => (one.ods === null ? one.name : `${one.name} ODS ${one.ods.toFixed(3)}`)).slice(0, 4);
  $("about").textContent = [...scores, ...(gallery.class === null ? [] : [`class ${gallery.class}`]), `protocol ${gallery.protocol.id}`].join(" · ");
  for (const id of ["wall-class", "class"]) $(id).value = gallery.class;
}

function showNow() {
  const image = Boolean(state.i);
  $("wall").hidden = image;
  $("image").hidden = !image;
  $("home").href = $("back").href = write(wallState());
  if (!image && shown === "image") page.leave();
  if (image) { page.show(state); document.title = `${gallery.images.find((one) => one.id === state.i)?.name ?? "?"} · EdgeCritic view`; } else {
    wall.show(state);
    document.title = `${gallery.title} · EdgeCritic view`;
    document.body.dataset.ready = "yes";
  }
  if (image && shown !== "image") window.scrollTo(0, 0);
  shown = image ? "image" : "wall";
}

/** Show what the address says, if it is not what is shown. */
function follow() {
  const next = read(location.hash);
  if (write(next) === write(state)) return;
  clearTimeout(written);
  state = next;
  show();
}

function keys(event) {
  const typing = event.target.matches("input:not([type=range], [type=checkbox], [type=radio]), select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
  if (state.i && event.key === "Escape") { settle(); location.hash = write(wallState()); } else if (state.i) page.key(event);
  else if (event.key === "/") { event.preventDefault(); $("wall-find").focus(); } else if (event.key.startsWith("Arrow") && document.activeElement === document.body) {
    event.preventDefault();
    $("wall-list").querySelector("a")?.focus();
  }
}

/** While maps are still being judged, look for new numbers. */
async function lookAgain() {
  if (gallery.judged[0] >= gallery.judged[1]) return;
  try {
    const next = await json(galleryPath(gallery.class));
    if (next.class === gallery.class) Object.assign(gallery, next);
    if (!state.i) wall.show(state);
  } catch { return; }
  setTimeout(lookAgain, LOOK_AGAIN);
}

async function begin() {
  try { gallery = await json("/gallery"); } catch (error) { tell(error.message); return; }
  for (const one of document.querySelectorAll(".only-classes")) one.hidden = gallery.classes.length === 0;
  for (const id of ["wall-class", "class"]) {
    fill($(id), gallery.classes.map((one) => [one, one]));
    $(id).addEventListener("input", () => change({ c: $(id).value, t: undefined }));
  }
  wall = new Wall(gallery, change, addressOf);
  page = new ImagePage(gallery, { change, go, tell });
  for (const name of ["hashchange", "popstate"]) window.addEventListener(name, follow);
  document.addEventListener("keydown", keys);
  show();
  lookAgain();
}

begin();
