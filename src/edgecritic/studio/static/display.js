// How large a trial is shown, whatever the theme and however wide the window, and what an answer tells of it.

const GAP = 16, MARGIN = 20, HEAD = 140, NARROW = 736, SLACK = 0.999;
export const PHOTO_SHARE = 0.6;

export const isNarrow = () => window.innerWidth < NARROW;

/**
 * The scale of a photo in CSS pixels per pixel: `size` for its longer side, less only where the window is too small. Two maps are
 * beside each other with the photo above them; two photos are beside each other, or one below the other in a narrow window.
 */
export function fitted(image, size, ofMaps) {
  const columns = ofMaps || !isNarrow() ? 2 : 1, rows = ofMaps ? 1 + PHOTO_SHARE : 1;
  const wanted = size / Math.max(image.width, image.height);
  const edge = 2 * MARGIN + (columns - 1) * GAP;
  const room = Math.min((window.innerWidth - edge) / (columns * image.width), (window.innerHeight - HEAD) / (rows * image.height));
  const scale = Math.min(wanted, Math.max(room, 40 / Math.max(image.width, image.height)));
  return {
    scale, isSmall: columns < 2 || scale < SLACK * wanted,
    width: Math.ceil(2 * image.width * wanted + 2 * MARGIN + GAP), height: Math.ceil(rows * image.height * wanted + HEAD),
  };
}

/** What an answer tells of how it was given. */
export function displayOf(scale, input) {
  return {
    viewport_width: window.innerWidth, viewport_height: window.innerHeight, screen_width: screen.width, screen_height: screen.height,
    pixel_ratio: window.devicePixelRatio || 1, zoom: window.visualViewport?.scale ?? 1, scale, input, device: device(),
    theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
  };
}

function device() {
  if (!matchMedia("(pointer: coarse)").matches) return "desktop";
  return Math.min(screen.width, screen.height) < 600 ? "phone" : "tablet";
}

/** The kind of input that a click or tap was made with; a button that a key has pressed was not clicked. */
export function inputOf(event) {
  if (event.detail === 0) return "key";
  return ["mouse", "touch", "pen"].includes(event.pointerType) ? event.pointerType : "mouse";
}
