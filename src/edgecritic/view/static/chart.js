// Precision over recall: curves of the data set (thin) and of the image (thick), and the points that are shown.

const LEFT = 34, TOP = 10, WIDE = 254, HIGH = 218;
const x = (recall) => LEFT + WIDE * recall, y = (precision) => TOP + HIGH * (1 - precision);

function add(parent, name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

/** Return the place of the number that is nearest to a wanted one. */
export function nearest(numbers, wanted) {
  let best = -1;
  numbers.forEach((one, at) => { if (best < 0 || Math.abs(one - wanted) < Math.abs(numbers[best] - wanted)) best = at; });
  return best;
}

/** Two curves of every detector stay while a threshold moves; the points follow it. */
export class Chart {
  constructor(svg) {
    this.curves = add(svg, "g", {});
    this.points = add(svg, "g", {});
    this.key = [null];
  }

  /** `series` are {colour, image, set, point}: two curves {recall, precision} or null, and a point or null. */
  draw(series) {
    const key = series.flatMap(({ colour, image, set }) => [colour, image, set]);
    if (key.length !== this.key.length || key.some((one, at) => one !== this.key[at])) { this.key = key; drawCurves(this.curves, series); }
    this.points.replaceChildren();
    for (const { colour, set, point } of series) {
      const at = set && point ? nearest(set.threshold, point.threshold) : -1;
      if (at >= 0) add(this.points, "circle", { class: "of-set", cx: x(set.recall[at]), cy: y(set.precision[at]), r: 4, fill: "none", stroke: colour, "stroke-width": 1.5 });
    }
    for (const { colour, point } of series) if (point) add(this.points, "circle", { class: "ink", cx: x(point.recall), cy: y(point.precision), r: 5, fill: colour, "stroke-width": 1.5 });
  }
}

function drawCurves(svg, series) {
  svg.replaceChildren();
  for (const f of [0.2, 0.4, 0.6, 0.8]) {
    const points = Array.from({ length: 40 }, (_, at) => f / 2 + ((1 - f / 2) * (at + 1)) / 40).map((recall) => [recall, (f * recall) / (2 * recall - f)]).filter(([, precision]) => precision > 0 && precision <= 1);
    add(svg, "polyline", { class: "iso", points: points.map(([recall, precision]) => `${x(recall).toFixed(1)},${y(precision).toFixed(1)}`).join(" ") });
  }
  add(svg, "path", { class: "axis", fill: "none", d: `M${x(0)} ${y(1)}V${y(0)}H${x(1)}` });
  for (const tick of [0, 0.5, 1]) {
    add(svg, "text", { x: x(tick), y: y(0) + 13, "text-anchor": "middle" }, tick);
    add(svg, "text", { x: x(0) - 5, y: y(tick) + 3, "text-anchor": "end" }, tick);
  }
  add(svg, "text", { x: x(0.5), y: y(0) + 26, "text-anchor": "middle" }, "recall");
  add(svg, "text", { x: 10, y: y(0.5), "text-anchor": "middle", transform: `rotate(-90 10 ${y(0.5)})` }, "precision");
  const line = (curve, colour, width, more = {}) => {
    const points = curve.recall.map((recall, at) => [recall, curve.precision[at]]).filter(([recall, precision]) => recall > 0 || precision > 0);
    add(svg, "polyline", { points: points.map(([recall, precision]) => `${x(recall).toFixed(1)},${y(precision).toFixed(1)}`).join(" "), stroke: colour, "stroke-width": width, ...more });
  };
  for (const one of series) if (one.set) line(one.set, one.colour, 1, { "stroke-dasharray": "4 3" });
  for (const one of series) if (one.image) line(one.image, one.colour, 2.4);
}
