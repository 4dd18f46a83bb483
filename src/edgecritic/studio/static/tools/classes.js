// Classes: the brush gives the edges below it to a class, or takes them from it.

import { Brush } from "../brush.js";
import { $, desk, setup } from "../desk.js";
import { check, element } from "../fields.js";
import { remember, setting } from "../prefs.js";

const names = setup.classes ? setup.classes.split("\n") : [];
// As 0xAABBGGRR; the same colours in the same order as those of the panel.
const colours = [0xff601bd8, 0xffe5881e, 0xff177ff5, 0xff7b8900, 0xffaa248e, 0xff414c6d, 0xff47a043, 0xffab4939];

class Classes extends Brush {
  name = "classes"; label = "Class"; title = "Give edges to a class"; key = "k"; op = "paint";
  icon = "M4 4h8l8 8-8 8-8-8zM8 8h.01";
  hint = "Drag over edges to give them to the class.";
  keys = names.length ? { "}": () => this.step(1), "{": () => this.step(-1) } : {};
  help = names.length ? [[["{", "}"], "class before, next class"]] : [];

  get available() { return names.length > 0; }

  options() {
    if (!names.length) return [];
    desk.view.classColours = Uint32Array.from({ length: 256 }, (_, bits) => (bits ? colours[Math.log2(bits & -bits)] : 0));
    const list = element("select", { id: "class", onchange: () => this.choose() }, ...names.map((name, at) => element("option", { value: at + 1 }, name)));
    const chosen = Math.min(names.length, setting("class", 1));
    list.value = String(chosen);
    const legend = element("p", { className: "legend" }, ...names.flatMap((name, at) => [element("span", { className: `key class-${at + 1}` }), ` ${name} `]));
    return [element("label", {}, "Class ", list), check("take away from the class", { id: "class-off" }), legend];
  }

  choose() { remember("class", Number($("class").value)); }

  step(by) {
    const list = $("class");
    list.selectedIndex = (list.selectedIndex + by + names.length) % names.length;
    this.choose();
  }

  more() { return { class: Number($("class").value), on: !$("class-off").checked }; }
}

export const classes = new Classes();
