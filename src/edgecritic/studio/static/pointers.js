// Mouse, pen and fingers: one works with a tool, two move and zoom.

import { $, desk } from "./desk.js";
import { showPlace, showZoom } from "./tell.js";
import { move as moving } from "./tools/move.js";

const pointers = new Map();
let pinch = null;
let held = null;  // the tool that is pressed

/** Let mouse, pen and fingers work on the canvas. */
export function listenToPointers() {
  const canvas = $("canvas");
  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", move);
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, up);
  canvas.addEventListener("pointerleave", () => { desk.hover = null; desk.view.invalidate(); });
  canvas.addEventListener("dblclick", () => desk.tool.finish());
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || !event.shiftKey) {
      desk.view.zoomTo(desk.view.scale * Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), ...desk.view.place(event));
      showZoom();
    } else desk.view.pan(-(event.deltaX || event.deltaY) * lines * desk.view.ratio, 0);
  }, { passive: false });
}

/** Tell whether something is being drawn. */
export const isPressed = () => held !== null && !held.harmless;

function down(event) {
  $("canvas").setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, event);
  desk.cursor = null;
  if (pointers.size === 2) {
    held?.cancel();
    held = null;
    pinch = measurePinch();
  }
  if (pointers.size > 1) return;
  const tool = event.button === 1 || event.button === 2 || event.altKey || desk.space ? moving : desk.tool;
  if (desk.space) desk.space.moved = true;
  if (!tool.harmless && (event.button !== 0 || desk.locked)) return;
  held = tool;
  const pixel = desk.view.pixel(event);
  if (tool !== moving) desk.hover = pixel;
  tool.begin(pixel, event);
}

function move(event) {
  if (pointers.has(event.pointerId)) pointers.set(event.pointerId, event);
  if (pinch && pointers.size === 2) {
    const now = measurePinch();
    desk.view.pan(now.x - pinch.x, now.y - pinch.y);
    desk.view.zoomTo(desk.view.scale * (now.far / pinch.far), now.x, now.y);
    pinch = now;
    showZoom();
    return;
  }
  const before = desk.hover, all = event.getCoalescedEvents?.() ?? [];
  if (held !== moving) desk.hover = desk.view.pixel(event);
  held?.move((all.length ? all : [event]).map((one) => desk.view.pixel(one)), event);
  if (held === moving) return;
  desk.tool.hover(before);
  showPlace();
}

function up(event) {
  pointers.delete(event.pointerId);
  if (pinch) { if (pointers.size === 0) pinch = null; return; }
  if (event.type === "pointercancel") held?.cancel();
  else held?.end(desk.view.pixel(event), event);
  held = null;
}

function measurePinch() {
  const [[ax, ay], [bx, by]] = [...pointers.values()].map((event) => desk.view.place(event));
  return { x: (ax + bx) / 2, y: (ay + by) / 2, far: Math.max(1, Math.hypot(ax - bx, ay - by)) };
}
