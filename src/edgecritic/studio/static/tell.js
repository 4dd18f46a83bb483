// What the page tells: saved or not, numbers, the zoom, messages.

import { $, desk } from "./desk.js";

export function showState(kind, count, message = "") {
  const words = {
    saved: "Saved", saving: "Saving…", offline: `Offline: ${count} kept here`, refused: message || "Not saved",
  };
  state = { kind, text: desk.finished ? "Submitted" : words[kind] };
  showSaved();
  $("reload").hidden = kind !== "refused" || ["diverged", "submitted"].includes(desk.sync?.stopped);
}

let state = { kind: "saving", text: "Loading…" };

/** Show whether everything is saved: an open line is not, it is kept in this browser. */
function showSaved() {
  const isOpen = state.kind === "saved" && desk.tool?.pending;
  $("state").textContent = isOpen ? "Open line, kept here" : state.text;
  $("state").dataset.kind = isOpen ? "open" : state.kind;
}

export function showNumbers() {
  for (const tool of desk.tools) tool.show();
  document.querySelector("[data-do=undo]").disabled = desk.locked || !(desk.history.done.length || desk.tool?.pending);
  document.querySelector("[data-do=redo]").disabled = desk.locked || !desk.history.undone.length;
  const isKnown = (desk.levelTiles?.share ?? 1) === 1;
  $("count").textContent = isKnown ? `${desk.state.count().toLocaleString("en")} px` : "loading…";
  const edits = desk.history.done.length;
  $("edits").textContent = edits === 1 ? "1 edit" : `${edits} edits`;
  showSaved();
  showZoom();
}

export function showZoom() { $("zoom").textContent = `${Math.round((desk.view.scale / desk.view.ratio) * 100)} %`; }
export function showPlace() { const at = desk.cursor ?? desk.hover; $("place").textContent = at ? `${at[0]}, ${at[1]}` : ""; }

/** Tell whether the whole proposal is there, which some tools need; say so if it is not. */
export function isLoaded() {
  const share = desk.levelTiles?.share ?? 1;
  if (share < 1) say(`The proposal is still loading, ${Math.floor(100 * share)} % are there. Drawing and erasing work already.`);
  return share === 1;
}

let saying = 0;
export function say(message) {
  $("message").textContent = message;
  $("message").hidden = false;
  clearTimeout(saying);
  saying = setTimeout(() => { $("message").hidden = true; }, 5000);
}
