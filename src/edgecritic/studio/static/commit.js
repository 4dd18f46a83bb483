// Edits: made, shown, kept; taken back and made again.

import { desk } from "./desk.js";
import { showNumbers } from "./tell.js";

/** Make an edit; `patch` is what it has changed, if it is shown already. */
export function commit(edit, patch = null) {
  if (desk.locked) return;
  const box = desk.history.push(edit, patch);
  if (box && !patch) desk.view.refresh(box);
  else if (!patch) desk.view.invalidate();
  desk.sync.push(edit);
  showNumbers();
}

export function undo() {
  if (!desk.tool.back() && desk.history.done.length) commit({ op: "undo", data: {} });
}

export function redo() { if (desk.history.undone.length) commit({ op: "redo", data: {} }); }
