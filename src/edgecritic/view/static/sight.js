// What is seen of one map beside some annotators: hits, false alarms, misses, partners and how far they are.

/** Places of pixels in a volume (planes, rows, columns) or an image, which is a volume of one plane. */
export class Space {
  /** `from` are the row and the column at which a window of a raster begins. */
  constructor(shape, spacing, from) {
    this.from = from ?? [0, 0];
    this.volume = shape.length === 3;
    this.shape = this.volume ? shape : [1, ...shape];
    this.sizes = spacing ? (this.volume ? spacing : [1, ...spacing]) : [1, 1, 1];
    this.inPixels = !spacing;
  }

  get size() { return this.shape.reduce((product, one) => product * one); }

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
    const [plane, row, column] = this.place(flat), [top, left] = this.from;
    return `${this.volume ? `plane ${plane}, ` : ""}row ${top + row}, column ${left + column}`;
  }
}

export class Sight {
  /** `reply` is that of /judge, `truths` the pixels of every annotator, `people` the numbers of those that are looked at. */
  constructor(reply, truths, people, space) {
    Object.assign(this, { reply, truths, people, space });
    this.candidate = reply.arrays.candidate;
    const { size } = space, missed = [];
    /** By pixel: whether it is a hit, and how many people's truth is missed there. */
    this.hit = new Uint8Array(size);
    this.missedBy = new Uint16Array(size);
    const found = new Uint16Array(size);
    people.forEach((person, at) => {
      this.eachMatched(person, (one) => { this.hit[one] = 1; }, (other) => { found[other] = at + 1; });
      for (const one of truths[person]) if (found[one] !== at + 1 && this.missedBy[one]++ === 0) missed.push(one);
    });
    this.missed = missed;
    this.hits = this.candidate.filter((one) => this.hit[one]);
    this.alarms = this.candidate.filter((one) => !this.hit[one]);
  }

  /** Call the two functions with the matched pixels of the candidate and of a person's truth. */
  eachMatched(person, ofCandidate, ofTruth) {
    const { arrays } = this.reply, pairs = arrays[`pairs-${person}`];
    if (!pairs) { arrays[`hits-${person}`].forEach(ofCandidate); arrays[`found-${person}`].forEach(ofTruth); return; }
    for (let at = 0; at < pairs.length; at += 2) { ofCandidate(pairs[at]); ofTruth(pairs[at + 1]); }
  }

  /** By person: the partner of every pixel of the candidate (`there`) and of the truth (`back`). */
  get partners() {
    if (!this.partnersMade) {
      this.partnersMade = new Map();
      for (const person of this.people) {
        const pairs = this.reply.arrays[`pairs-${person}`];
        if (!pairs) continue;
        const there = new Map(), back = new Map();
        for (let at = 0; at < pairs.length; at += 2) { there.set(pairs[at], pairs[at + 1]); back.set(pairs[at + 1], pairs[at]); }
        this.partnersMade.set(person, { there, back });
      }
    }
    return this.partnersMade;
  }

  /** Mean distance of a hit to its partners. */
  distanceOf(flat) {
    if (!this.hit[flat]) return null;
    let sum = 0, many = 0;
    for (const { there } of this.partners.values()) if (there.has(flat)) { sum += this.space.distance(flat, there.get(flat)); many++; }
    return many ? sum / many : 0;
  }

  /** The truth pixels of any of the people that are matched. */
  get found() {
    if (!this.foundPixels) {
      this.foundPixels = new Set();
      for (const person of this.people) this.eachMatched(person, () => {}, (other) => this.foundPixels.add(other));
    }
    return this.foundPixels;
  }
}
