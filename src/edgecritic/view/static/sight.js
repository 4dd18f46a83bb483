// What is seen of one map beside some annotators: hits, false alarms, misses, partners and how far they are.

/** Places of pixels in a volume (planes, rows, columns) or an image, which is a volume of one plane. */
export class Space {
  constructor(shape, spacing) {
    this.volume = shape.length === 3;
    this.shape = this.volume ? shape : [1, ...shape];
    this.sizes = spacing ? (this.volume ? spacing : [1, ...spacing]) : [1, 1, 1];
    this.inPixels = !spacing;
  }

  get axes() { return this.volume ? [0, 1, 2] : [0]; }

  place(flat) {
    const [, rows, columns] = this.shape, column = flat % columns, rest = (flat - column) / columns;
    return [Math.floor(rest / rows), rest % rows, column];
  }

  flat([plane, row, column]) { return (plane * this.shape[1] + row) * this.shape[2] + column; }

  distance(one, other) {
    const a = this.place(one), b = this.place(other);
    return Math.hypot(...a.map((value, axis) => (value - b[axis]) * this.sizes[axis]));
  }

  /** The two axes that a plane along `axis` shows, downwards and to the right. */
  seen(axis) { return [0, 1, 2].filter((one) => one !== axis); }

  words(flat) {
    const [plane, row, column] = this.place(flat);
    return `${this.volume ? `plane ${plane}, ` : ""}row ${row}, column ${column}`;
  }
}

export class Sight {
  /** `reply` is that of /judge, `truths` the pixels of every annotator, `people` the numbers of those that are looked at. */
  constructor(reply, truths, people, space) {
    Object.assign(this, { reply, truths, people, space });
    this.candidate = reply.arrays.candidate;
    this.partners = new Map();
    const far = new Map(), missed = new Map();
    for (const person of people) {
      const pairs = reply.arrays[`pairs-${person}`], found = new Set();
      if (pairs) {
        const there = new Map(), back = new Map();
        for (let at = 0; at < pairs.length; at += 2) {
          const one = pairs[at], other = pairs[at + 1], apart = space.distance(one, other);
          there.set(one, other); back.set(other, one); found.add(other);
          const sum = far.get(one);
          if (sum) { sum[0] += apart; sum[1]++; } else far.set(one, [apart, 1]);
        }
        this.partners.set(person, { there, back });
      } else {
        for (const one of reply.arrays[`hits-${person}`]) if (!far.has(one)) far.set(one, [0, 1]);
        for (const one of reply.arrays[`found-${person}`]) found.add(one);
      }
      for (const one of truths[person]) if (!found.has(one)) missed.set(one, (missed.get(one) ?? 0) + 1);
    }
    this.far = far;
    this.missed = missed;
    this.alarms = this.candidate.filter((one) => !far.has(one));
  }

  /** Mean distance of a hit to its partners. */
  distanceOf(flat) { const sum = this.far.get(flat); return sum ? sum[0] / sum[1] : null; }

  /** Whether a truth pixel of any of the people is matched. */
  get found() {
    if (!this.foundPixels) {
      this.foundPixels = new Set();
      for (const person of this.people) {
        const gone = this.reply.arrays[`found-${person}`];
        if (gone) for (const one of gone) this.foundPixels.add(one);
        else for (const one of this.partners.get(person).back.keys()) this.foundPixels.add(one);
      }
    }
    return this.foundPixels;
  }
}
