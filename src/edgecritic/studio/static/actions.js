// What the buttons do.

import { clashActions } from "./clash.js";
import { commit, redo, undo } from "./commit.js";
import { $, desk, work } from "./desk.js";
import { get, send } from "./net.js";
import { plainView, zoom, zoomBy } from "./settings.js";
import { say, showZoom } from "./tell.js";

export const actions = {
  undo, redo, fit: () => { desk.view.fit(); showZoom(); }, help: () => $("help").showModal(),
  "zoom-in": () => { desk.hover = null; zoomBy(1.5); }, "zoom-out": () => { desk.hover = null; zoomBy(1 / 1.5); },
  full: () => { desk.hover = null; zoom(8); },
  finish: () => desk.tool.finish(),
  plain: plainView,
  clear: () => commit({ op: "clear", data: {} }),
  before: () => takeBefore().catch((failure) => say(failure.message)),
  import: () => $("import-file").click(),
  panel: () => { document.body.dataset.panel = document.body.dataset.panel === "open" ? "" : "open"; },
  submit: async () => {
    if (desk.locked) return;
    desk.tool.finish();
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
  guideline: () => $("guideline").showModal(),
  "guideline-close": () => $("guideline").close(),
  reload: () => location.reload(),
  ...clashActions,
};

/** Take the map of the neighbouring slice over, as an edit that can be undone. */
async function takeBefore() {
  const { runs } = await get(`${work}/before`);
  commit({ op: "replace", data: { runs } });
}

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
