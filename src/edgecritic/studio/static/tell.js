// What the page tells: saved or not, numbers, the zoom, messages.

import { $, desk } from "./desk.js";

export function showState(kind, count, message = "") {
  const words = {
    saved: "Saved", saving: "Saving…", offline: `Offline: ${count} kept here`, refused: message || "Not saved",
  };
  $("state").textContent = desk.finished ? "Submitted" : words[kind];
  $("state").dataset.kind = kind;
  $("reload").hidden = kind !== "refused";
}

export function showNumbers() {
  for (const tool of desk.tools) tool.show();
  document.querySelector("[data-do=undo]").disabled = desk.finished || !(desk.history.done.length || desk.tool?.pending);
  document.querySelector("[data-do=redo]").disabled = desk.finished || !desk.history.undone.length;
  $("count").textContent = `${desk.state.count().toLocaleString("en")} px`;
  $("edits").textContent = `${desk.history.done.length} edits`;
  showZoom();
}

export function showZoom() { $("zoom").textContent = `${Math.round((desk.view.scale / desk.view.ratio) * 100)} %`; }
export function showPlace() { const at = desk.cursor ?? desk.hover; $("place").textContent = at ? `${at[0]}, ${at[1]}` : ""; }

let saying = 0;
export function say(message) {
  $("message").textContent = message;
  $("message").hidden = false;
  clearTimeout(saying);
  saying = setTimeout(() => { $("message").hidden = true; }, 5000);
}
