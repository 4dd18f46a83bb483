// What is drawn over the map: the line in the making, the brush, the cursor of the keyboard.

import { desk } from "./desk.js";
import { line } from "./fold.js";

export function decorate(context, { scale, x, y, ratio }) {
  const shown = desk.cursor ?? desk.hover;
  if (desk.points.length || desk.preview.length) {
    const path = [];
    const push = (px, py) => path.push(px, py);
    const all = desk.tool === "line" && shown && desk.points.length ? [...desk.points, ...desk.view.clamp(shown)] : desk.points;
    for (let i = 2; i < all.length; i += 2) line(all[i - 2], all[i - 1], all[i], all[i + 1], push);
    path.push(...desk.points.slice(0, 2), ...desk.preview);
    context.fillStyle = "#00c9e6";
    const size = Math.max(scale, 2);
    for (let i = 0; i < path.length; i += 2) context.fillRect(x + path[i] * scale, y + path[i + 1] * scale, size, size);
    const [ax, ay] = desk.points.slice(-2);
    if (desk.points.length) ring(context, x + (ax + 0.5) * scale, y + (ay + 0.5) * scale, Math.max(4, scale) * ratio);
  }
  if (!shown) return;
  const cx = x + (shown[0] + 0.5) * scale, cy = y + (shown[1] + 0.5) * scale;
  if (desk.tool === "erase") ring(context, cx, cy, (desk.radius + 0.5) * scale);
  if (desk.cursor) {
    context.lineWidth = 3; context.strokeStyle = "#ffffff"; cross(context, cx, cy, 12 * ratio);
    context.lineWidth = 1.5; context.strokeStyle = "#000000"; cross(context, cx, cy, 12 * ratio);
  }
}

function ring(context, x, y, size) {
  for (const [width, colour] of [[3, "#ffffff"], [1.25, "#111111"]]) {
    context.lineWidth = width; context.strokeStyle = colour;
    context.beginPath(); context.arc(x, y, Math.max(2, size), 0, 2 * Math.PI); context.stroke();
  }
}

function cross(context, x, y, size) {
  context.beginPath();
  context.moveTo(x - size, y); context.lineTo(x + size, y);
  context.moveTo(x, y - size); context.lineTo(x, y + size);
  context.stroke();
}
