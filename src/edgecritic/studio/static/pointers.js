// Mouse, pen and fingers: strokes, clicks, moving and zooming.

import { $, desk } from "./desk.js";
import { addVertex, deleteAt, finishLine, followWire } from "./edits.js";
import { beginStroke, dropStroke, endStroke, extendStroke } from "./strokes.js";
import { showPlace, showZoom } from "./tell.js";

const pointers = new Map();
let pinch = null, panning = null, pressed = null;

/** Let mouse, pen and fingers work on the canvas. */
export function listenToPointers() {
  const canvas = $("canvas");
  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", move);
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, up);
  canvas.addEventListener("pointerleave", () => { desk.hover = null; desk.view.invalidate(); });
  canvas.addEventListener("dblclick", () => { if (desk.tool === "line" || desk.tool === "wire") finishLine(); });
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

function down(event) {
  $("canvas").setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, event);
  desk.cursor = null;
  if (pointers.size === 2) {
    dropStroke();
    pressed = null; panning = null;
    pinch = measurePinch();
    return;
  }
  if (pointers.size > 2) return;
  if (event.button === 1 || event.button === 2 || desk.tool === "pan" || event.altKey) {
    panning = desk.view.place(event);
    return;
  }
  if (event.button !== 0 || desk.finished) return;
  const pixel = desk.view.pixel(event);
  desk.hover = pixel;
  if (desk.tool === "erase") beginStroke(pixel);
  else if (desk.tool === "delete") pressed = { pixel, event };
  else pressed = { pixel, event, drawing: false };
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
  if (panning) {
    const [x, y] = desk.view.place(event);
    desk.view.pan(x - panning[0], y - panning[1]);
    panning = [x, y];
    return;
  }
  const before = desk.hover;
  desk.hover = desk.view.pixel(event);
  if (desk.stroke) for (const one of event.getCoalescedEvents?.() ?? [event]) extendStroke(desk.view.pixel(one));
  else if (pressed && desk.tool === "line" && !desk.points.length && moved(pressed.event, event)) {
    beginStroke(pressed.pixel);
    pressed = null;
    extendStroke(desk.hover);
  }
  followWire();
  showPlace();
  if (desk.tool === "erase") { markBrush(before); markBrush(desk.hover); } else if (desk.points.length) desk.view.invalidate();
}

function up(event) {
  pointers.delete(event.pointerId);
  if (pinch) { if (pointers.size === 0) pinch = null; return; }
  if (panning) { panning = null; return; }
  if (desk.stroke) { if (event.type === "pointercancel") dropStroke(); else endStroke(); return; }
  if (pressed && event.type === "pointerup") {
    if (desk.tool === "delete") deleteAt(pressed.pixel);
    else if (event.detail < 2) addVertex(desk.view.pixel(event));
  }
  pressed = null;
}

const moved = (first, now) => Math.hypot(now.clientX - first.clientX, now.clientY - first.clientY) > 6;

function measurePinch() {
  const [[ax, ay], [bx, by]] = [...pointers.values()].map((event) => desk.view.place(event));
  return { x: (ax + bx) / 2, y: (ay + by) / 2, far: Math.max(1, Math.hypot(ax - bx, ay - by)) };
}

function markBrush(pixel) {
  if (!pixel) return;
  const more = desk.radius + 2 + Math.ceil(3 / desk.view.scale);
  desk.view.invalidate([pixel[0] - more, pixel[1] - more, pixel[0] + more, pixel[1] + more]);
}
