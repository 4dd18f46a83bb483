// Delete the edge at a place: the whole piece, or its segment up to the junctions.

import { commit } from "../commit.js";
import { $, desk } from "../desk.js";
import { check } from "../fields.js";
import { remember, setting } from "../prefs.js";
import { isLoaded, say } from "../tell.js";
import { Tool } from "../tool.js";

const MOST_SHOWN = 8000;

class Delete extends Tool {
  name = "delete"; label = "Delete"; title = "Delete an edge"; key = "d"; cursor = "pointer";
  icon = "M3 18c4-1 4-9 9-10M14 12l7 7M21 12l-7 7";
  hint = "Click an edge to delete what is shown in black.";
  keys = { j: () => $("scope").click() };
  help = [[["J"], "delete only up to junctions"]];
  pressed = null;
  /** What a click would delete now, as places of pixels. */
  doomed = [];

  options() {
    const field = check("only up to junctions", { id: "scope", key: "J", checked: setting("scope", false) });
    field.addEventListener("change", () => { remember("scope", $("scope").checked); this.hover(); });
    return [field];
  }

  begin(pixel) { this.pressed = pixel; }
  end() {
    if (this.pressed) this.delete(desk.view.clamp(this.pressed));
    this.pressed = null;
  }
  cancel() { this.pressed = null; }

  get scope() { return $("scope").checked ? "segment" : "component"; }

  hover() {
    const at = desk.hover && !desk.locked && (desk.levelTiles?.complete ?? true) ? nearest(desk.view.clamp(desk.hover)) : null;
    const before = this.doomed.length;
    this.doomed = at ? desk.state.connected(...at, this.scope, MOST_SHOWN) : [];
    if (before || this.doomed.length) desk.view.invalidate();
  }

  /** Draw what would go, black in white, which is seen on every photo. */
  draw(context, { scale, x, y, width }, at) {
    if (!at) return;
    const size = Math.max(scale, 2);
    for (const [colour, more] of [["#ffffff", 1.5], ["#000000", 0]]) {
      context.fillStyle = colour;
      for (const place of this.doomed) {
        const px = x + (place % width) * scale, py = y + Math.floor(place / width) * scale;
        context.fillRect(px - more, py - more, size + 2 * more, size + 2 * more);
      }
    }
  }

  delete(pixel) {
    if (!isLoaded()) return;
    const at = nearest(pixel);
    if (!at) { say("There is no edge here."); return; }
    commit({ op: "delete", data: { at, scope: this.scope } });
    this.hover();
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
