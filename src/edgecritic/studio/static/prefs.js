// Settings of the tools that stay from image to image, in this browser.

const NAME = "edgecritic:settings";
let known = {};
try { known = JSON.parse(localStorage.getItem(NAME) ?? "{}") ?? {}; } catch { /* the first ones */ }

/** Return a setting, or `otherwise` if it was never made. */
export const setting = (name, otherwise) => (typeof known[name] === typeof otherwise ? known[name] : otherwise);

export function remember(name, value) {
  known[name] = value;
  try { localStorage.setItem(NAME, JSON.stringify(known)); } catch { /* not kept */ }
}
