// Remove specks: all pieces of few pixels.

import { commit } from "../commit.js";
import { $, desk } from "../desk.js";
import { element } from "../fields.js";
import { remember, setting } from "../prefs.js";
import { isLoaded, say } from "../tell.js";
import { Tool } from "../tool.js";

class Specks extends Tool {
  name = "specks";
  keys = { x: () => this.remove() };
  help = [[["X"], "remove specks: pieces of few pixels"]];

  options() {
    if (desk.finished) return [];
    const button = element("button", { title: "Remove small pieces (X)", ariaKeyShortcuts: "x", onclick: () => this.remove() }, "Remove specks");
    const size = element("input", { type: "number", id: "speck", min: 2, max: 1000, value: setting("speck", 8), ariaLabel: "Smallest piece that stays, in pixels" });
    return [element("div", { className: "row speck" }, button, element("label", {}, "< ", size, " px"))];
  }

  remove() {
    if (desk.locked || !isLoaded()) return;
    const size = Math.min(1000, Math.max(2, Math.round(Number($("speck").value)) || 8)), before = desk.state.count();
    $("speck").value = size;
    remember("speck", size);
    if (!desk.history.mayDespeckle()) {
      say("Specks of an image this large were removed as often as is possible. Undo a removal, or delete pieces one by one.");
      return;
    }
    commit({ op: "despeckle", data: { size } });
    say(`${(before - desk.state.count()).toLocaleString("en")} pixels in specks removed.`);
  }
}

export const specks = new Specks();
