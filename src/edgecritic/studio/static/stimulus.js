// What a trial shows: a photo with two squares and the two segments enlarged, or a photo and two edge maps of it.

/** The segment enlarged, with as much around it again. */
export function paintSegment(canvas, image, [cx, cy, ...pixels], square, lines) {
  const context = prepare(canvas), span = 2 * square + 1, reach = square;
  const scale = canvas.width / span;
  context.imageSmoothingEnabled = false;
  context.fillStyle = "#777";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, (reach - cx) * scale, (reach - cy) * scale, image.width * scale, image.height * scale);
  if (!lines) return;
  for (const [colour, inset] of [["#ffffff", 0.04], ["#e8002a", 0.22]]) {
    context.fillStyle = colour;
    for (let i = 0; i < pixels.length; i += 2) {
      const x = (pixels[i] - cx + reach + inset) * scale, y = (pixels[i + 1] - cy + reach + inset) * scale;
      context.fillRect(x, y, (1 - 2 * inset) * scale, (1 - 2 * inset) * scale);
    }
  }
}

/** The whole photo with both squares in their places. */
export function paintPhoto(canvas, image, slot, square) {
  canvas.style.aspectRatio = `${image.width} / ${image.height}`;
  const context = prepare(canvas), scale = Math.min(canvas.width / image.width, canvas.height / image.height);
  const ratio = window.devicePixelRatio || 1;
  context.drawImage(image, 0, 0, image.width * scale, image.height * scale);
  context.font = `bold ${13 * ratio}px system-ui, sans-serif`;
  for (const [side, label] of [["left", "F"], ["right", "J"]]) {
    const [cx, cy] = slot[side], half = square / 2;
    const x = (cx + 0.5 - half) * scale, y = (cy + 0.5 - half) * scale, size = square * scale;
    for (const [width, colour] of [[4 * ratio, "#000"], [2 * ratio, "#fff"]]) {
      context.lineWidth = width; context.strokeStyle = colour; context.strokeRect(x, y, size, size);
    }
    const ty = y > 20 * ratio ? y - 6 * ratio : y + size + 14 * ratio;
    context.lineWidth = 4 * ratio; context.strokeStyle = "#000"; context.strokeText(label, x, ty);
    context.fillStyle = "#fff"; context.fillText(label, x, ty);
  }
}

/** A photo or an edge map alone, as large as its place; pixels stay sharp where they are enlarged, and no line vanishes where not. */
export function paintWhole(canvas, image) {
  canvas.style.aspectRatio = `${image.width} / ${image.height}`;
  const context = prepare(canvas), scale = Math.min(canvas.width / image.width, canvas.height / image.height);
  context.imageSmoothingEnabled = scale < 1;
  context.imageSmoothingQuality = "high";
  context.drawImage(image, 0, 0, image.width * scale, image.height * scale);
}

/** Make a canvas as fine as the screen, and empty. */
function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
  canvas.width = Math.max(1, Math.round(box.width * ratio));
  canvas.height = Math.max(1, Math.round(box.height * ratio));
  return canvas.getContext("2d");
}

/** Photos by the number of their image, some of them ahead of time; one that could not be loaded is asked for again. */
export class Photos {
  constructor(address) { this.address = address; this.known = new Map(); }

  get(image) {
    if (!this.known.has(image)) {
      this.known.set(image, load(this.address(image)).catch((failure) => { this.known.delete(image); throw failure; }));
      if (this.known.size > 12) this.known.delete(this.known.keys().next().value);
    }
    return this.known.get(image);
  }

  ahead(image) { this.get(image).catch(() => { /* asked for again when it is needed */ }); }
}

async function load(address) {
  const reply = await fetch(address);
  if (!reply.ok) throw Object.assign(new Error("The photo could not be loaded."), { status: reply.status });
  return createImageBitmap(await reply.blob());
}
