// Two windows have edited one image: both edits are kept until the person says what to do.

import { $, desk, setup, work } from "./desk.js";
import { LabelState, History } from "./fold.js";
import { get, send } from "./net.js";
import { say, showNumbers } from "./tell.js";

let clash = null;

/** Ask what to do with edits of this window that do not follow those of the server. */
export function ask(found) {
  clash = found;
  const count = found.events.length;
  $("clash-mine").textContent = count === 1 ? "1 edit" : `${count} edits`;
  $("clash-text").textContent = found.code === "submitted" ? "This map was submitted in another window and cannot be changed any more." : "This image was edited in another window meanwhile.";
  document.querySelector("[data-do=clash-merge]").hidden = found.code === "submitted";
  if (!$("clash-dialog").open) $("clash-dialog").showModal();
}

/** Load all edits, page by page. */
export async function storedEvents() {
  const events = [];
  let page;
  do {
    page = await get(`${work}/events?from=${events.length}`);
    events.push(...page.events);
  } while (page.events.length && events.length < page.count);
  return events;
}

/** What edits do, without those that were taken back among them; undoing what came before them is left out. */
export function netEdits(events) {
  const done = [];
  let undone = [];
  for (const event of events) {
    if (event.op === "undo") { if (done.length) undone.push(done.pop()); }
    else if (event.op === "redo") { if (undone.length) done.push(undone.pop()); }
    else { done.push(event); undone = []; }
  }
  return done;
}

/** Show the map that edits make. */
function rebuild(events) {
  desk.state.reset(Number(setup.level));
  desk.history = new History(desk.state);
  for (const event of events) desk.history.push(event);
  desk.view.refresh();
  showNumbers();
}

async function end(work_) {
  try {
    await work_();
    $("clash-dialog").close();
    clash = null;
  } catch (failure) { say(failure.message); $("clash-note").textContent = `${failure.message} Nothing is lost; try again.`; }
}

export const clashActions = {
  "clash-merge": () => end(async () => {
    const events = await storedEvents(), mine = netEdits(clash.events);
    desk.sync.restart(events, mine);
    clash.forget();
    rebuild([...events, ...mine]);
  }),
  "clash-keep": () => end(async () => {
    await send(`${work}/versions`, { json: { key: clash.events[0].key, base: clash.base, events: clash.events } });
    const { code, forget } = clash;
    await follow();
    forget();
    if (code === "submitted") location.reload();
    else { say("Your edits are kept as another version; the settings list it."); await listVersions(); }
  }),
  "clash-drop": () => {
    if (!window.confirm(`Drop ${$("clash-mine").textContent} of this window for good?`)) return;
    end(async () => { const { code, forget } = clash; await follow(); forget(); if (code === "submitted") location.reload(); });
  },
};

/** Go on with what the server has. */
async function follow() {
  const events = await storedEvents();
  desk.sync.restart(events);
  rebuild(events);
}

/** List the versions that were kept beside the map; each can be made the map, as an edit that can be undone. */
export async function listVersions() {
  const { versions } = await get(`${work}/versions`);
  $("versions").hidden = !versions.length;
  $("version-list").replaceChildren(...versions.map(({ id, edits, created }) => {
    const row = document.createElement("li"), button = document.createElement("button");
    button.textContent = "Take it";
    button.disabled = desk.finished;
    button.addEventListener("click", () => take(id).catch((failure) => say(failure.message)));
    row.append(`${created.slice(0, 16).replace("T", " ")} UTC, ${edits === 1 ? "1 edit" : `${edits} edits`} `, button);
    return row;
  }));
}

async function take(id) {
  const { base, events } = await get(`${work}/versions/${id}`), known = await storedEvents();
  const state = new LabelState(desk.state.levels, desk.state.width, desk.state.height, Number(setup.level)), history = new History(state);
  for (const event of [...known.slice(0, base), ...events]) history.push(event);
  const { commit } = await import("./commit.js");
  commit({ op: "replace", data: { runs: state.runs() } });
}
