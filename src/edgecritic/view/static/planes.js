// What lies behind the coloured pixels: planes of the photo and of the strength of every detector, the latest few of them.

import { bitmap, packed } from "./net.js";

const MOST = 60;

export class Planes {
  /** `image` is one of the gallery, `query` returns what its addresses end with. */
  constructor(image, query) {
    Object.assign(this, { image, query });
    this.known = new Map();
  }

  /** The photo in a plane; null where there is none, or not yet. */
  photo(axis, index) { return this.known.get(`photo/${axis}/${index}`) ?? null; }

  /** The strength in a plane, as numbers (`values`) and as a `picture`. */
  strength(detector, axis, index) { return this.known.get(`strength/${detector}/${axis}/${index}`) ?? null; }

  /** Fetch the photo in some planes, [axis, index]. */
  async fetchPhotos(places) {
    if (this.image.photo) await this.fetch(places.map(([axis, index]) => `photo/${axis}/${index}`), (axis, index) => bitmap(`/photo/${this.image.id}/${axis}/${index}${this.query()}`));
  }

  async fetchStrengths(places, detectors) {
    await this.fetch(detectors.flatMap((one) => places.map(([axis, index]) => `strength/${one}/${axis}/${index}`)), async (axis, index, detector) => {
      const { shape, arrays } = await packed(`/strength/${this.image.id}/${detector}/${axis}/${index}${this.query()}`);
      return { values: arrays.strength, picture: drawn(arrays.strength, shape) };
    });
  }

  /** Fetch what is missing; what cannot be shown is null. */
  async fetch(keys, load) {
    const { known } = this;
    await Promise.all(keys.filter((key) => !known.has(key)).map(async (key) => {
      const [index, axis, detector] = key.split("/").reverse();
      known.set(key, await load(axis, index, detector).catch(() => null));
    }));
    while (known.size > MOST) known.delete(known.keys().next().value);
  }
}

/** Return strengths as a picture, dark on light. */
function drawn(strength, [high, wide]) {
  const picture = new OffscreenCanvas(wide, high), data = new ImageData(wide, high), pixels = new Uint32Array(data.data.buffer);
  for (let at = 0; at < strength.length; at++) pixels[at] = 0xff000000 | (Math.round(255 * (1 - Math.min(1, Math.max(0, strength[at])))) * 0x010101);
  picture.getContext("2d").putImageData(data, 0, 0);
  return picture;
}
