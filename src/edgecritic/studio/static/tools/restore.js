// Restore: brings weak and removed edges of the proposal back below the brush.

import { Brush } from "../brush.js";
import { $, desk } from "../desk.js";
import { slider } from "../fields.js";
import { remember, setting } from "../prefs.js";
import { isLoaded } from "../tell.js";

class Restore extends Brush {
  name = "restore"; label = "Restore"; title = "Bring proposed edges back"; key = "r";
  icon = "M4 12a8 8 0 1 0 2.500-5.800M6 2v4.500h4.500M9 16c2-1 4-6 6-7";
  hint = "Drag over a place to bring its weak and removed edges back.";
  op = "reveal";
  share = Math.min(100, Math.max(1, setting("restore", 50)));

  options() {
    return [slider("Restore down to, of the threshold", {
      id: "restore", min: 1, max: 100, value: this.share, keys: "", input: (value) => { this.share = value; remember("restore", value); this.show(); },
    })];
  }

  show() { $("restore").value = this.share; $("restore-text").textContent = `${this.share} %`; }

  more() { return { level: Math.max(1, Math.round((this.share * Math.min(255, desk.state.threshold)) / 100)) }; }

  begin(pixel, event) { if (isLoaded()) super.begin(pixel, event); }
}

export const restore = new Restore();
