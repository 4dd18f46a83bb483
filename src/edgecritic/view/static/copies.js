// What can be taken along: figures, the command, the link.

import * as figure from "./figure.js";
import { words as partOf } from "./overview.js";
import { ONLY } from "./stage.js";
import { short } from "./wall.js";

export class Copies {
  /** `page` has what is shown, `tell` says something. */
  constructor(page, tell) {
    Object.assign(this, { page, tell });
    const acts = { png: () => this.png(), svg: () => this.svg(), command: () => this.command(), link: () => this.text(location.href, "The link") };
    for (const [name, act] of Object.entries(acts)) document.getElementById(`copy-${name}`).addEventListener("click", act);
  }

  get titles() { return this.page.stages.map((stage) => this.page.titleOf(stage).filter(Boolean).join(" ")); }

  async png() {
    const blob = await figure.png(this.page.stages, this.titles, this.caption());
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
      this.tell("The figure is in the clipboard.");
    } catch { this.save(blob, "png"); }
  }

  async svg() {
    const text = await figure.svg(this.page.stages, this.titles, this.caption());
    await this.text(text, "The figure", () => this.save(new Blob([text], { type: "image/svg+xml" }), "svg"));
  }

  async command() { await this.text(this.page.replies.filter(Boolean).map((reply) => reply.command).join("\n"), "The command"); }

  async text(text, what, otherwise) {
    try {
      await navigator.clipboard.writeText(text);
      this.tell(`${what} is in the clipboard.`);
    } catch { if (otherwise) otherwise(); else this.tell(text); }
  }

  /** Where the clipboard is closed, the figure becomes a file. */
  save(blob, kind) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${this.page.image.name.replaceAll(/[^\w.-]+/g, "-")}.${kind}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    this.tell("The figure was saved as a file, because the clipboard is closed to this page.");
  }

  caption() {
    const { page } = this, unit = page.space.inPixels ? " px" : "", [first] = page.replies;
    const each = page.detectors.map((one, at) => { const reply = page.replies[at]; return `${page.nameOf(one)} at threshold ${Number(reply.threshold.toFixed(4))}: P ${short(reply.precision)}, R ${short(reply.recall)}, F ${short(reply.f)}`; });
    const people = `${page.truths.length} annotator${page.truths.length === 1 ? "" : "s"}`;
    const legend = page.mode === "difference" ? `${page.compared.map((one, at) => `${ONLY[at][1]}: truth pixels that only ${page.nameOf(one)} has found (faint: its false alarms)`).join("; ")}; grey: both; blue: neither.` : "Green: hits; orange: false alarms; blue: misses.";
    return `${page.image.name}${page.of === null ? "" : `, class ${page.of}`}${page.facts.window === null ? "" : `, ${partOf(page.facts)}`}, ${people}. Protocol ${page.protocolName}, strategy ${first.strategy}, tolerance ${first.tolerance.toFixed(2)}${unit}. ${each.join("; ")}. ${legend} EdgeCritic ${page.gallery.version}.`;
  }
}
