// The label map as a fold over edits: the same rules as fold.py, integers only, the same pixels.

export const FREE = 0, ADDED = 1, REMOVED = 2;
const FOUND = 1, ASKED = 2, JUNCTION = 4, ASKED_BESIDE = 8, BESIDE = 16;
export const MOST_POINTS = 4000, MOST_STEPS = 40000, SPECK_PIXELS = 1e8;
const AROUND = [[-1, 0], [-1, 1], [0, 1], [1, 1], [1, 0], [1, -1], [0, -1], [-1, -1]];

/** Call visit(x, y) for the pixels of a straight line by Bresenham's rule, both ends included. */
export function line(x0, y0, x1, y1, visit) {
  const stepX = x0 < x1 ? 1 : -1, stepY = y0 < y1 ? 1 : -1;
  const across = Math.abs(x1 - x0), down = -Math.abs(y1 - y0);
  let error = across + down;
  visit(x0, y0);
  while (x0 !== x1 || y0 !== y1) {
    const twice = 2 * error;
    if (twice >= down) { error += down; x0 += stepX; }
    if (twice <= across) { error += across; y0 += stepY; }
    visit(x0, y0);
  }
}

/** What an edit has changed, so that it can be taken back. */
export class Patch {
  constructor() { this.at = []; this.was = []; this.layerAt = []; this.layerWas = []; this.all = null; this.threshold = null; this.box = null; }
  note(x, y) {
    const box = this.box;
    if (!box) { this.box = [x, y, x, y]; return; }
    if (x < box[0]) box[0] = x;
    if (y < box[1]) box[1] = y;
    if (x > box[2]) box[2] = x;
    if (y > box[3]) box[3] = y;
  }
}

/** What is known of pixels for a while: bits in an array that is empty before and after. */
class Flags {
  constructor(bits) { this.bits = bits; this.used = []; }
  get(at) { return this.bits[at]; }
  add(at, bits) {
    if (!this.bits[at]) this.used.push(at);
    this.bits[at] |= bits;
  }
  clear() { for (const at of this.used) this.bits[at] = 0; }
}

export class LabelState {
  /** `levels` may be empty at first: all 0, which need not be counted, until they arrive. */
  constructor(levels, width, height, level, { empty = false } = {}) {
    this.levels = levels;
    this.width = width;
    this.height = height;
    this.threshold = level;
    this.marks = new Uint8Array(width * height);
    /** The classes of each pixel, a bit for each, if there are any. */
    this.layers = null;
    if (!empty) { this.tally(); return; }
    this.free = new Int32Array(256);
    this.free[0] = width * height;
    this.added = 0;
  }

  /** Begin anew, without any edit. */
  reset(level) {
    this.threshold = level;
    this.layers = null;
    this.marks.fill(FREE);
    this.tally();
  }

  /** Levels of a box have come after the state was made. */
  arrived([x0, y0, x1, y1]) {
    for (let y = y0; y <= y1; y++) {
      for (let at = y * this.width + x0, end = y * this.width + x1; at <= end; at++) {
        if (this.marks[at] === FREE && this.levels[at]) { this.free[0]--; this.free[this.levels[at]]++; }
      }
    }
  }

  /** Count the pixels without a mark by level, and the added ones; edits keep the numbers up to date. */
  tally() {
    this.free = new Int32Array(256);
    this.added = 0;
    for (let at = 0; at < this.marks.length; at++) {
      if (this.marks[at] === FREE) this.free[this.levels[at]]++;
      else if (this.marks[at] === ADDED) this.added++;
    }
  }

  /** Return the raster runs of the map: start, length, start, length, … */
  runs() {
    const runs = [];
    for (let at = 0, size = this.marks.length; at < size; at++) {
      if (!this.isOn(at)) continue;
      const start = at;
      while (at < size && this.isOn(at)) at++;
      runs.push(start, at - start);
    }
    return runs;
  }

  isOn(at) {
    const mark = this.marks[at];
    if (mark !== FREE) return mark === ADDED;
    const level = this.levels[at];
    return level > 0 && level >= this.threshold;
  }

  on(x, y) {
    return x >= 0 && y >= 0 && x < this.width && y < this.height && this.isOn(y * this.width + x);
  }

  /** Return the map as bytes 0 and 1. */
  map() {
    const result = new Uint8Array(this.marks.length);
    for (let at = 0; at < result.length; at++) result[at] = this.isOn(at) ? 1 : 0;
    return result;
  }

  count() {
    let count = this.added;
    for (let level = Math.max(1, this.threshold); level < 256; level++) count += this.free[level];
    return count;
  }

  apply(edit) {
    const patch = new Patch(), { op, data } = edit;
    if (op === "threshold") {
      patch.threshold = this.threshold;
      this.threshold = data.level;
    } else if (op === "draw") {
      this.trace(data.points, (x, y) => this.set(patch, x, y, ADDED));
    } else if (op === "erase" || op === "reveal" || op === "paint") {
      const spans = discSpans(data.radius), { points } = data;
      if (points.length === 2) this.brush(patch, op, data, ...points, ...points, spans);
      for (let i = 2; i < points.length; i += 2) this.brush(patch, op, data, points[i - 2], points[i - 1], points[i], points[i + 1], spans);
    } else if (op === "lasso") {
      this.cutOut(patch, data.points);
    } else if (op === "delete") {
      for (const at of this.connected(data.at[0], data.at[1], data.scope)) {
        this.set(patch, at % this.width, Math.floor(at / this.width), REMOVED);
      }
    } else if (op === "despeckle") {
      for (const at of this.specks(data.size)) this.set(patch, at % this.width, Math.floor(at / this.width), REMOVED);
    } else if (op === "clear" || op === "replace") {
      patch.all = { marks: this.marks, free: this.free, added: this.added, layers: this.layers };
      this.layers = null;
      patch.box = [0, 0, this.width - 1, this.height - 1];
      this.marks = new Uint8Array(this.marks.length).fill(REMOVED);
      const runs = op === "replace" ? data.runs : [];
      this.free = new Int32Array(256);
      this.added = 0;
      for (let i = 0; i < runs.length; i += 2) {
        this.marks.fill(ADDED, runs[i], runs[i] + runs[i + 1]);
        this.added += runs[i + 1];
      }
    }
    return patch;
  }

  revert(patch) {
    if (patch.threshold !== null) this.threshold = patch.threshold;
    if (patch.all) Object.assign(this, patch.all);
    for (let i = patch.at.length - 1; i >= 0; i--) this.put(patch.at[i], patch.was[i]);
    for (let i = patch.layerAt.length - 1; i >= 0; i--) this.layers[patch.layerAt[i]] = patch.layerWas[i];
  }

  put(at, mark) {
    const before = this.marks[at];
    if (before === FREE) this.free[this.levels[at]]--;
    else if (before === ADDED) this.added--;
    if (mark === FREE) this.free[this.levels[at]]++;
    else if (mark === ADDED) this.added++;
    this.marks[at] = mark;
  }

  set(patch, x, y, mark) {
    const at = y * this.width + x;
    if (this.marks[at] === mark) return;
    patch.at.push(at);
    patch.was.push(this.marks[at]);
    patch.note(x, y);
    this.put(at, mark);
  }

  /** Call visit(x, y, at) for the pixels of the disks dx² + dy² ≤ radius² along a straight line, row by row: within a row they leave no gap. */
  disks(x0, y0, x1, y1, spans, visit) {
    const radius = (spans.length - 1) / 2, top = Math.min(y0, y1) - radius, rows = Math.abs(y1 - y0) + spans.length;
    const first = new Int32Array(rows).fill(this.width), last = new Int32Array(rows).fill(-1);
    line(x0, y0, x1, y1, (x, y) => {
      for (let i = 0, row = y - radius - top; i < spans.length; i++, row++) {
        if (x - spans[i] < first[row]) first[row] = x - spans[i];
        if (x + spans[i] > last[row]) last[row] = x + spans[i];
      }
    });
    for (let row = Math.max(0, -top); row < rows && top + row < this.height; row++) {
      const end = Math.min(this.width - 1, last[row]), y = top + row;
      for (let x = Math.max(0, first[row]), at = y * this.width + x; x <= end; x++, at++) visit(x, y, at);
    }
  }

  /** Remove what is below a brush, or add what has at least a level there, or give it to a class or take it from it. */
  brush(patch, op, { level, class: number, on }, ...place) {
    if (op === "erase") this.disks(...place, (x, y) => this.set(patch, x, y, REMOVED));
    else if (op === "reveal") this.disks(...place, (x, y, at) => { if (this.levels[at] >= level) this.set(patch, x, y, ADDED); });
    else {
      const bit = 1 << (number - 1), layers = (this.layers ??= new Uint8Array(this.marks.length));
      this.disks(...place, (x, y, at) => {
        const value = on ? layers[at] | bit : layers[at] & ~bit;
        if (value === layers[at]) return;
        patch.layerAt.push(at);
        patch.layerWas.push(layers[at]);
        patch.note(x, y);
        layers[at] = value;
      });
    }
  }

  /** Remove what is on, or could be by its level, inside the closed line through points and on it: an odd number of sides lies left. */
  cutOut(patch, points) {
    const cut = (x, y) => {
      const at = y * this.width + x;
      if (this.marks[at] === ADDED || this.levels[at]) this.set(patch, x, y, REMOVED);
    };
    const rows = new Map();
    for (let i = 0; i < points.length; i += 2) {
      let [x0, y0] = points.slice(i, i + 2), [x1, y1] = i + 2 < points.length ? points.slice(i + 2, i + 4) : points.slice(0, 2);
      line(x0, y0, x1, y1, cut);
      if (y0 > y1) [x0, y0, x1, y1] = [x1, y1, x0, y0];
      for (let y = y0; y < y1; y++) {
        if (!rows.has(y)) rows.set(y, []);
        rows.get(y).push(x0 + Math.ceil(((y - y0) * (x1 - x0)) / (y1 - y0)));
      }
    }
    for (const [y, crossings] of rows) {
      crossings.sort((a, b) => a - b);
      for (let i = 0; i < crossings.length; i += 2) for (let x = crossings[i]; x < crossings[i + 1]; x++) cut(x, y);
    }
  }

  trace(points, visit) {
    if (points.length === 2) visit(points[0], points[1]);
    for (let i = 2; i < points.length; i += 2) {
      line(points[i - 2], points[i - 1], points[i], points[i + 1], visit);
    }
  }

  isJunction(x, y, known) {
    if (!this.on(x, y)) return false;
    const at = y * this.width + x;
    if (!(known.get(at) & ASKED)) {
      let changes = 0;
      let before = this.on(x + AROUND[7][1], y + AROUND[7][0]);
      for (const [down, right] of AROUND) {
        const here = this.on(x + right, y + down);
        if (here && !before) changes++;
        before = here;
      }
      known.add(at, changes >= 3 ? ASKED | JUNCTION : ASKED);
    }
    return (known.get(at) & JUNCTION) !== 0;
  }

  besideJunction(x, y, known) {
    const at = y * this.width + x;
    if (!(known.get(at) & ASKED_BESIDE)) {
      const beside = AROUND.some(([down, right]) => this.isJunction(x + right, y + down, known));
      known.add(at, beside ? ASKED_BESIDE | BESIDE : ASKED_BESIDE);
    }
    return (known.get(at) & BESIDE) !== 0;
  }

  /** Return the pixels of all 8-connected pieces of fewer than `size` pixels. */
  specks(size) {
    const seen = new Uint8Array(this.marks.length), result = [], { width, height } = this;
    for (let start = 0; start < seen.length; start++) {
      if (seen[start] || !this.isOn(start)) continue;
      const piece = [start];
      seen[start] = 1;
      for (let i = 0; i < piece.length; i++) {
        const x = piece[i] % width, y = Math.floor(piece[i] / width);
        for (const [down, right] of AROUND) {
          const nx = x + right, ny = y + down;
          if (nx < 0 || ny < 0 || nx >= width || ny >= height) continue;
          const next = ny * width + nx;
          if (!seen[next] && this.isOn(next)) { seen[next] = 1; piece.push(next); }
        }
      }
      if (piece.length < size) for (const at of piece) result.push(at);
    }
    return result;
  }

  /** Return the 8-connected pixels around (x, y), or the first `most` of them; a segment ends at the junctions. */
  connected(x, y, scope, most = Infinity) {
    if (!this.on(x, y)) return [];
    const cut = scope === "segment", start = y * this.width + x;
    const known = new Flags(this.scratch ??= new Uint8Array(this.marks.length)), found = [start], waiting = [start];
    known.add(start, FOUND);
    while (waiting.length && found.length < most) {
      const at = waiting.pop();
      const column = at % this.width, row = Math.floor(at / this.width);
      if (cut && this.isJunction(column, row, known)) continue;
      const beside = cut && this.besideJunction(column, row, known);
      for (const [down, right] of AROUND) {
        const nx = column + right, ny = row + down, next = ny * this.width + nx;
        if (!this.on(nx, ny) || known.get(next) & FOUND) continue;
        if (cut && (this.isJunction(nx, ny, known) || (beside && this.besideJunction(nx, ny, known)))) continue;
        known.add(next, FOUND);
        found.push(next);
        waiting.push(next);
      }
    }
    known.clear();
    return found;
  }
}

export function discSpans(radius) {
  const spans = [];
  for (let dy = -radius; dy <= radius; dy++) {
    let reach = 0;
    while ((reach + 1) * (reach + 1) + dy * dy <= radius * radius) reach++;
    spans.push(reach);
  }
  return spans;
}

/** Return how many pixels a line visits. */
export function stepsOf(points) {
  let steps = 0;
  for (let i = 2; i < points.length; i += 2) {
    steps += Math.max(Math.abs(points[i] - points[i - 2]), Math.abs(points[i + 1] - points[i - 1])) + 1;
  }
  return steps;
}

/** A state with undo and redo without limit. */
export class History {
  constructor(state) { this.state = state; this.done = []; this.undone = []; }

  /** Tell whether specks may be removed once more; removals that follow each other are one. */
  mayDespeckle() {
    const ops = this.done.map((one) => one.edit.op);
    const start = Math.max(ops.lastIndexOf("clear"), ops.lastIndexOf("replace"), 0);
    const kept = [...ops.slice(start), "despeckle"];
    const times = kept.filter((op, i) => op === "despeckle" && kept[i - 1] !== op).length;
    return times <= Math.floor(SPECK_PIXELS / this.state.marks.length);
  }

  /** Apply one event and return the box in which marks have changed, or null: a threshold changes none. */
  push(edit, patch = null) {
    if (edit.op === "undo") {
      const last = this.done.pop();
      if (!last) return null;
      this.state.revert(last.patch);
      this.undone.push(last.edit);
      return last.patch.box;
    }
    if (edit.op === "redo") {
      const next = this.undone.pop();
      if (!next) return null;
      const redone = this.state.apply(next);
      this.done.push({ edit: next, patch: redone });
      return redone.box;
    }
    const made = patch ?? this.state.apply(edit);
    this.done.push({ edit, patch: made });
    this.undone = [];
    return made.box;
  }
}
