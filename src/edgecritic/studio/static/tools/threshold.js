// The threshold of the proposal: shown while the slider moves, one edit when it rests.

import { commit } from "../commit.js";
import { $, desk, setup } from "../desk.js";
import { slider } from "../fields.js";
import { showNumbers } from "../tell.js";
import { Tool } from "../tool.js";

class Threshold extends Tool {
  name = "threshold";
  keys = { ",": () => this.step(-4), ".": () => this.step(4), "<": () => this.step(-1), ">": () => this.step(1) };
  help = [[[",", "."], "threshold down, up"], [["<", ">"], "the same in fine steps"]];

  options() {
    return [slider("Threshold", {
      id: "threshold", min: 1, max: 256, value: desk.state.threshold, keys: ", .", disabled: desk.finished,
      input: (level) => this.preview(level), change: (level) => this.keep(level),
    })];
  }

  show() {
    const level = desk.state.threshold;
    $("threshold").value = level;
    $("threshold-text").textContent = level > 255 ? "none" : `${((level / 255) ** 2 * 100).toFixed(1)} %`;
  }

  preview(level) {
    if (desk.locked) { this.show(); return; }
    desk.state.threshold = level;
    desk.view.invalidate();
    showNumbers();
  }

  keep(level) {
    if (desk.locked) { this.show(); return; }
    const before = desk.history.done.findLast((one) => one.edit.op === "threshold")?.edit.data.level;
    desk.state.threshold = before ?? Number(setup.level);
    if (level !== desk.state.threshold) commit({ op: "threshold", data: { level } });
    else { desk.view.invalidate(); showNumbers(); }
  }

  step(by) { if (!desk.locked) this.keep(Math.min(256, Math.max(1, desk.state.threshold + by))); }
}

export const threshold = new Threshold();
