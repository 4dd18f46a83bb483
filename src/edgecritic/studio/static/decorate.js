// What is drawn over the map: what the tool shows, and the cursor of the keyboard.

import { drawComments } from "./comments.js";
import { desk } from "./desk.js";

export function decorate(context, view) {
  const shown = desk.cursor ?? desk.hover;
  drawComments(context, view);
  desk.tool.draw(context, view, shown);
  if (!desk.cursor) return;
  const x = view.x + (shown[0] + 0.5) * view.scale, y = view.y + (shown[1] + 0.5) * view.scale;
  for (const [width, colour] of [[3, "#ffffff"], [1.5, "#000000"]]) {
    context.lineWidth = width; context.strokeStyle = colour;
    cross(context, x, y, 12 * view.ratio);
  }
}

export function ring(context, x, y, size) {
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
