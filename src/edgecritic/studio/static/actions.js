// What the buttons do.

import { $, desk, work } from "./desk.js";
import { commit, finishLine, redo, undo } from "./edits.js";
import { send } from "./net.js";
import { zoom } from "./settings.js";
import { say, showZoom } from "./tell.js";

export const actions = {
  undo, redo, fit: () => { desk.view.fit(); showZoom(); }, help: () => $("help").showModal(),
  "zoom-in": () => { desk.hover = null; zoom((desk.view.scale / desk.view.ratio) * 1.5); }, "zoom-out": () => { desk.hover = null; zoom(desk.view.scale / desk.view.ratio / 1.5); },
  full: () => { desk.hover = null; zoom(8); },
  finish: finishLine,
  clear: () => commit({ op: "clear", data: {} }),
  despeckle: () => {
    const size = Math.min(1000, Math.max(2, Math.round(Number($("speck").value)) || 8));
    const before = desk.state.count();
    $("speck").value = size;
    if (!desk.history.mayDespeckle()) {
      say("Specks of an image this large were removed as often as is possible. Undo a removal, or delete pieces one by one.");
      return;
    }
    commit({ op: "despeckle", data: { size } });
    say(`${(before - desk.state.count()).toLocaleString("en")} pixels in specks removed.`);
  },
  import: () => $("import-file").click(),
  panel: () => { document.body.dataset.panel = document.body.dataset.panel === "open" ? "" : "open"; },
  submit: async () => {
    finishLine();
    if (!(await desk.sync.settled())) return;
    $("submit-count").textContent = desk.state.count().toLocaleString("en");
    $("submit-dialog").showModal();
  },
  "submit-yes": async () => {
    try {
      await send(`${work}/submit`, { json: { count: desk.sync.next } });
      location.assign(`${work}/compare`);
    } catch (failure) { $("submit-dialog").close(); say(failure.message); }
  },
  "submit-no": () => $("submit-dialog").close(),
  close: () => $("help").close(),
  reload: () => { desk.sync.forget(); location.reload(); },
};

export async function importFile() {
  const [file] = $("import-file").files;
  if (!file) return;
  if (!(await desk.sync.settled())) return;
  try {
    await send(`${work}/import`, { body: file });
    location.reload();
  } catch (failure) { say(failure.message); }
  $("import-file").value = "";
}
