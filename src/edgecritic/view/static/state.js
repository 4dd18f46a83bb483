// The whole state is in the address, behind the #: a link shows what its sender saw.

const TEXTS = ["i", "c", "s", "p", "mode", "layers", "people", "sort", "order", "q", "a", "b"];
const NUMBERS = ["tol", "low", "high"];
const LISTS = { d: String, w: Number, t: Number, at: Number, zoom: Number };

/** Read an address; what it does not say is left out. */
export function read(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, "")), state = {};
  for (const name of TEXTS) if (given.has(name)) state[name] = given.get(name).slice(0, 200);
  for (const name of NUMBERS) if (given.has(name) && Number.isFinite(Number(given.get(name)))) state[name] = Number(given.get(name));
  for (const [name, kind] of Object.entries(LISTS)) {
    if (!given.has(name)) continue;
    const list = given.get(name).split(",").slice(0, 32).map(kind);
    if (kind === String || list.every(Number.isFinite)) state[name] = list;
  }
  return state;
}

/** Write a state as an address. */
export function write(state) {
  const made = new URLSearchParams();
  for (const name of [...TEXTS, ...NUMBERS]) if (state[name] !== undefined && state[name] !== null && state[name] !== "") made.set(name, state[name]);
  for (const name of Object.keys(LISTS)) if (state[name]?.length) made.set(name, state[name].join(","));
  return `#${made.toString().replaceAll("%2C", ",")}`;
}
