// What a trial shows: a photo with two squares and the segments in it, the segments enlarged, or a photo and two edge maps of it.

const RED = "#e8002a", TAG = 18, GAP = 3, LINE = 4;

/** A photo or an edge map alone; pixels stay sharp where they are enlarged, and no line vanishes where not. */
export function paintWhole(canvas, image, scale) {
  const { context, ratio } = prepare(canvas, image.width * scale, image.height * scale);
  context.imageSmoothingEnabled = scale * ratio < 1 || canvas.id === "photo" || canvas.id === "unmarked";
  context.imageSmoothingQuality = "high";
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
}

/** The photo with both squares, their segments and their letters, all of it inside; return the squares in CSS pixels. */
export function paintMarked(canvas, image, slot, square, scale, lines) {
  paintWhole(canvas, image, scale);
  const ratio = canvas.width / (image.width * scale), context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  const frame = { x: 0, y: 0, width: image.width * scale, height: image.height * scale };
  const boxes = Object.fromEntries(["left", "right"].map((side) => [side, boxOf(slot[side], square, image, scale)]));
  if (lines) for (const side of ["left", "right"]) paintLine(context, slot[side], scale);
  const frames = Object.fromEntries(Object.entries(boxes).map(([side, box]) => [side, around(box, frame)]));
  for (const one of Object.values(frames)) paintSquare(context, one);
  const taken = Object.values(frames);
  for (const [side, letter] of [["left", "F"], ["right", "J"]]) taken.push(paintLetter(context, letter, frames[side], frame, taken));
  return boxes;
}

/** The segment enlarged, with as much around it again. */
export function paintSegment(canvas, image, [cx, cy, ...pixels], square, side, lines) {
  const { context } = prepare(canvas, side, side), span = 2 * square + 1, reach = square;
  const scale = canvas.width / span;
  context.imageSmoothingEnabled = false;
  context.fillStyle = "#808080";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, (reach - cx) * scale, (reach - cy) * scale, image.width * scale, image.height * scale);
  if (!lines) return;
  for (const [colour, inset] of [["#ffffff", 0.04], [RED, 0.22]]) {
    context.fillStyle = colour;
    for (let i = 0; i < pixels.length; i += 2) {
      const x = (pixels[i] - cx + reach + inset) * scale, y = (pixels[i + 1] - cy + reach + inset) * scale;
      context.fillRect(x, y, (1 - 2 * inset) * scale, (1 - 2 * inset) * scale);
    }
  }
}

/** The square around a centre, moved into the photo where it would reach beyond; the pixels of its segment stay in it. */
export function boxOf([cx, cy], square, image, scale) {
  const place = (centre, length) => Math.max(0, Math.min(centre + 0.5 - square / 2, length - square)) * scale;
  return {
    x: place(cx, image.width), y: place(cy, image.height),
    width: Math.min(square, image.width) * scale, height: Math.min(square, image.height) * scale,
  };
}

function paintLine(context, [, , ...pixels], scale) {
  const size = Math.max(scale, 1.5), shift = (scale - size) / 2;
  context.fillStyle = RED;
  for (let i = 0; i < pixels.length; i += 2) context.fillRect(pixels[i] * scale + shift, pixels[i + 1] * scale + shift, size, size);
}

/** The frame of a square lies around it, so that it covers nothing of it, but inside the photo. */
function around({ x, y, width, height }, frame) {
  const [left, top] = [Math.max(0, x - LINE), Math.max(0, y - LINE)];
  return { x: left, y: top, width: Math.min(frame.width, x + width + LINE) - left, height: Math.min(frame.height, y + height + LINE) - top };
}

function paintSquare(context, { x, y, width, height }) {
  for (const [inset, colour] of [[1, "#000000"], [LINE - 1, "#ffffff"]]) {
    context.lineWidth = 2;
    context.strokeStyle = colour;
    context.strokeRect(x + inset, y + inset, width - 2 * inset, height - 2 * inset);
  }
}

/** The letter of a square beside it, where it is inside the photo and covers neither square nor the other letter. */
function paintLetter(context, letter, box, frame, taken) {
  const across = [box.x, box.x + box.width - TAG], down = [box.y, box.y + box.height - TAG];
  const places = [
    ...across.map((x) => [x, box.y - TAG - GAP]), ...across.map((x) => [x, box.y + box.height + GAP]),
    ...down.map((y) => [box.x - TAG - GAP, y]), ...down.map((y) => [box.x + box.width + GAP, y]),
  ].map(([x, y]) => ({ x, y, width: TAG, height: TAG }));
  const free = places.find((place) => isInside(place, frame) && !taken.some((other) => overlap(place, other)));
  const found = free ?? places.find((place) => isInside(place, frame)) ?? { x: box.x, y: box.y, width: TAG, height: TAG };
  context.fillStyle = "#000000";
  context.fillRect(found.x, found.y, TAG, TAG);
  context.fillStyle = "#ffffff";
  context.font = "bold 14px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(letter, found.x + TAG / 2, found.y + TAG / 2 + 1);
  return found;
}

const isInside = (one, frame) => one.x >= frame.x && one.y >= frame.y && one.x + one.width <= frame.width && one.y + one.height <= frame.height;
const overlap = (one, other) => one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height && other.y < one.y + one.height;

/** Give a canvas its size on the page, make it as fine as the screen, and empty. */
function prepare(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  return { context: canvas.getContext("2d"), ratio };
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
