// Large images come in tiles: photos at the size they are shown in, maps at full size, what is seen first.

export const TILE = 1024;
const MOST_PHOTOS = 72, AT_ONCE = 4;

/** A photo that is one picture. */
export class WholePhoto {
  constructor(bitmap) { this.bitmap = bitmap; }
  draw(context, view) { context.drawImage(this.bitmap, 0, 0, view.width, view.height); }
}

/** A photo in tiles: until one is there a coarser one takes its place. */
export class TiledPhoto {
  constructor(files, width, height) {
    Object.assign(this, { files, width, height });
    this.top = 0;
    while (Math.max(width, height) > TILE << this.top) this.top++;
    this.known = new Map();
    this.asked = new Map();
    this.onLoad = () => {};
    this.first = this.ask(this.top, 0, 0);
  }

  /** How many tiles are kept. */
  get most() { return MOST_PHOTOS; }

  /** Return width and height of a tile. */
  sizeOf(key) {
    const [level, row, column] = key.split("/").map(Number);
    return [[this.width, column], [this.height, row]].map(([whole, place]) => Math.min(TILE, Math.ceil(whole / 2 ** level) - place * TILE));
  }

  /** Load a tile, `level/row/column`. */
  async load(key) {
    const reply = await fetch(`${this.files}/tiles/photo/${key}`);
    if (!reply.ok) throw new Error(`The image could not be loaded (${reply.status}).`);
    return createImageBitmap(await reply.blob());
  }

  /** Return what a canvas can draw of a tile, … */
  picture(tile) { return tile; }
  /** … and give back what it holds. */
  drop(tile) { tile.close(); }

  ask(level, row, column) {
    const key = `${level}/${row}/${column}`;
    if (!this.asked.has(key)) {
      this.asked.set(key, this.load(key).then((tile) => {
        this.known.set(key, tile);
        if (this.known.size > this.most) this.forget();
        this.onLoad();
      }).finally(() => this.asked.delete(key)));
    }
    return this.asked.get(key);
  }

  forget() {
    for (const key of this.known.keys()) {
      if (!key.startsWith(`${this.top}/`)) { this.drop(this.known.get(key)); this.known.delete(key); return; }
    }
  }

  draw(context, view, [x0, y0, x1, y1]) {
    const level = view.scale >= 1 ? 0 : Math.min(this.top, Math.floor(Math.log2(1 / view.scale)));
    const side = TILE << level;
    for (let row = Math.floor(y0 / side); row <= Math.floor(y1 / side); row++) {
      for (let column = Math.floor(x0 / side); column <= Math.floor(x1 / side); column++) this.drawTile(context, level, row, column);
    }
  }

  drawTile(context, level, row, column) {
    for (let up = level; up <= this.top; up++) {
      const by = up - level, key = `${up}/${row >> by}/${column >> by}`, tile = this.known.get(key);
      if (!tile) {
        if (up === level) this.ask(level, row, column).catch(() => { /* asked for again with the next drawing */ });
        continue;
      }
      this.known.delete(key);
      this.known.set(key, tile);
      const bitmap = this.picture(tile), side = TILE << level, left = column * side, top = row * side;
      const width = Math.min(side, this.width - left), height = Math.min(side, this.height - top);
      const sx = (left - ((column >> by) * TILE << up)) / (1 << up), sy = (top - ((row >> by) * TILE << up)) / (1 << up);
      const sw = Math.min(width / (1 << up), bitmap.width - sx), sh = Math.min(height / (1 << up), bitmap.height - sy);
      context.drawImage(bitmap, sx, sy, sw, sh, left, top, width, height);
      return;
    }
  }
}

/** The gradient in tiles, grey by grey: of a smaller picture the strongest pixel of each block. */
export class GradientTiles extends TiledPhoto {
  async load(key) { return grey(await tileBytes(`${this.files}/tiles/gradient/${key}`), ...this.sizeOf(key)); }
}

/** Return bytes as a picture. */
export function grey(bytes, width, height) {
  const picture = new ImageData(width, height), pixels = new Uint32Array(picture.data.buffer);
  for (let at = 0; at < bytes.length; at++) pixels[at] = 0xff000000 | (bytes[at] * 0x010101);
  return createImageBitmap(picture);
}

/** The bytes of a map in tiles, written into one array; tiles near the middle of the view come first. */
export class TiledBytes {
  constructor(files, kind, width, height, target) {
    Object.assign(this, { files, kind, width, height, target });
    this.columns = Math.ceil(width / TILE);
    this.rows = Math.ceil(height / TILE);
    this.left = new Set(Array.from({ length: this.rows * this.columns }, (_, at) => at));
    this.total = this.left.size;
    this.under = new Map();
    this.onTile = () => {};
  }

  get share() { return 1 - this.left.size / this.total; }
  get complete() { return this.left.size === 0; }

  /** Load everything; `middle()` is the pixel that is looked at. */
  async all(middle) {
    const work = async () => {
      for (;;) {
        const at = this.nearest(middle());
        if (at === null) return;
        await this.load(at);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  /** Load what covers a box. */
  async box(box) { await Promise.all(this.missing(box).map((at) => this.load(at))); }

  has(box) { return this.missing(box).length === 0; }

  missing([x0, y0, x1, y1]) {
    const wanted = [];
    for (let row = Math.floor(y0 / TILE); row <= Math.floor(y1 / TILE); row++) {
      for (let column = Math.floor(x0 / TILE); column <= Math.floor(x1 / TILE); column++) wanted.push(row * this.columns + column);
    }
    return wanted.filter((at) => this.left.has(at));
  }

  nearest([x, y]) {
    let best = null, least = Infinity;
    for (const at of this.left) {
      if (this.under.has(at)) continue;
      const far = Math.abs((at % this.columns) * TILE + TILE / 2 - x) + Math.abs(Math.floor(at / this.columns) * TILE + TILE / 2 - y);
      if (far < least) { least = far; best = at; }
    }
    return best;
  }

  load(at) {
    if (!this.under.has(at)) this.under.set(at, this.fetch(at).finally(() => this.under.delete(at)));
    return this.under.get(at);
  }

  async fetch(at) {
    const row = Math.floor(at / this.columns), column = at % this.columns;
    const x0 = column * TILE, y0 = row * TILE, x1 = Math.min(x0 + TILE, this.width) - 1, y1 = Math.min(y0 + TILE, this.height) - 1;
    for (let pause = 500; ; pause = Math.min(2 * pause, 4000)) {
      try {
        const bytes = await tileBytes(`${this.files}/tiles/${this.kind}/0/${row}/${column}`), wide = x1 - x0 + 1;
        for (let y = y0; y <= y1; y++) this.target.set(bytes.subarray((y - y0) * wide, (y - y0 + 1) * wide), y * this.width + x0);
        this.left.delete(at);
        this.onTile([x0, y0, x1, y1]);
        return;
      } catch { await new Promise((resolve) => setTimeout(resolve, pause)); }
    }
  }
}

export async function tileBytes(path) {
  const reply = await fetch(path);
  if (!reply.ok) throw new Error(`The image could not be loaded (${reply.status}).`);
  return new Uint8Array(await reply.arrayBuffer());
}

/** Load a whole level of a map of this size, tile by tile. */
export async function levelBytes(files, kind, level, width, height) {
  const result = new Uint8Array(width * height), work = [];
  for (let row = 0; row * TILE < height; row++) {
    for (let column = 0; column * TILE < width; column++) {
      work.push(tileBytes(`${files}/tiles/${kind}/${level}/${row}/${column}`).then((bytes) => {
        const wide = Math.min(TILE, width - column * TILE);
        for (let y = 0; y * wide < bytes.length; y++) result.set(bytes.subarray(y * wide, (y + 1) * wide), (row * TILE + y) * width + column * TILE);
      }));
    }
  }
  await Promise.all(work);
  return result;
}
