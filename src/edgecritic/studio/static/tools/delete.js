// Delete the edge at a place: the whole piece, or its segment up to the junctions.

import { commit } from "../commit.js";
import { $, desk } from "../desk.js";
import { check } from "../fields.js";
import { remember, setting } from "../prefs.js";
import { isLoaded, say } from "../tell.js";
import { Tool } from "../tool.js";

class Delete extends Tool {
  name = "delete"; label = "Delete"; title = "Delete an edge"; key = "d"; cursor = "pointer";
  icon = "M3 18c4-1 4-9 9-10M14 12l7 7M21 12l-7 7";
  hint = "Click an edge to delete all of it.";
  keys = { j: () => $("scope").click() };
  help = [[["J"], "delete only up to junctions"]];
  pressed = null;

  options() {
    const field = check("only up to junctions", { id: "scope", key: "J", checked: setting("scope", false) });
    field.addEventListener("change", () => remember("scope", $("scope").checked));
    return [field];
  }

  begin(pixel) { this.pressed = pixel; }
  end() {
    if (this.pressed) this.delete(desk.view.clamp(this.pressed));
    this.pressed = null;
  }
  cancel() { this.pressed = null; }

  delete(pixel) {
    if (!isLoaded()) return;
    const at = nearest(pixel);
    if (!at) { say("There is no edge here."); return; }
    commit({ op: "delete", data: { at, scope: $("scope").checked ? "segment" : "component" } });
  }
}

/** Return the edge pixel next to a place, at most about 8 screen pixels away. */
function nearest([x, y]) {
  const reach = Math.max(1, Math.min(12, Math.round((8 * desk.view.ratio) / desk.view.scale)));
  let best = null, least = reach * reach + 1;
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const far = dx * dx + dy * dy;
      if (far < least && desk.state.on(x + dx, y + dy)) { least = far; best = [x + dx, y + dy]; }
    }
  }
  return best;
}

export const delete_ = new Delete();
