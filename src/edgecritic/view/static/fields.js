// Fields that are made anew for every image: boxes to tick, and the slider of a threshold.

import { say } from "./numbers.js";

/** Return a box with its label, and where told a colour and the key that ticks it. */
export function check(text, { key, colour, act, name }) {
  const label = document.createElement("label"), box = Object.assign(document.createElement("input"), { type: "checkbox", name });
  label.className = "check";
  label.append(box);
  if (colour) {
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = colour;
    label.append(swatch);
  }
  label.append(text);
  if (key) label.append(Object.assign(document.createElement("kbd"), { textContent: key }));
  box.addEventListener("change", act);
  return label;
}

/** The lowest and the highest threshold, and the step of their slider. */
export const rangeOf = ({ segmentations }) => (segmentations ? [1, segmentations, 1] : [0, 1, 0.01]);

/** A slider for a threshold; beside it buttons for some values, [text, value] each. */
export class ThresholdField {
  constructor(text, facts, values, act) {
    this.facts = facts;
    this.part = document.createElement("div");
    this.slider = document.createElement("input");
    this.told = document.createElement("output");
    const label = document.createElement("label"), row = document.createElement("div"), [min, max, step] = rangeOf(facts);
    Object.assign(this.slider, { type: "range", min, max, step });
    this.part.className = "threshold";
    row.className = "row";
    label.append(`${text} `, this.told, this.slider);
    this.slider.addEventListener("input", () => act(Number(this.slider.value)));
    for (const [name, value] of values) {
      if (value === undefined || value === null) continue;
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: `${name} ${Number(value.toFixed(3))}` });
      button.addEventListener("click", () => act(value));
      row.append(button);
    }
    this.part.append(label, row);
  }

  show(value) {
    this.slider.value = value;
    say(this.told, this.facts.segmentations ? `segmentation ${value}` : Number(value).toFixed(2));
  }
}
