// The pictures as a figure for a paper, with a caption: PNG, or SVG in which every pixel is a shape.

const GAP = 12, LINE = 20;
const FONT = 'px system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif';

/** Break text into lines of at most `most` letters. */
function lines(text, most) {
  const made = [""];
  for (const word of text.split(" ")) {
    if (made.at(-1) && made.at(-1).length + word.length + 1 > most) made.push(word);
    else made[made.length - 1] += `${made.at(-1) ? " " : ""}${word}`;
  }
  return made;
}

/** Return a PNG of the pictures side by side, twice as large as they are seen, with titles and a caption. */
export async function png(stages, titles, caption) {
  const factor = 2, parts = stages.map((stage) => stage.enlarged(factor)), font = 14 * factor, step = LINE * factor, gap = GAP * factor;
  const width = parts.reduce((sum, one) => sum + one.width + gap, gap), high = Math.max(...parts.map((one) => one.height));
  const told = lines(caption, Math.floor((width - 2 * gap) / (0.52 * font)));
  const canvas = new OffscreenCanvas(width, high + step * (told.length + 1) + 3 * gap), context = canvas.getContext("2d");
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = "#1b2127";
  let left = gap;
  parts.forEach((one, at) => {
    context.font = `600 ${font}${FONT}`;
    context.fillText(titles[at], left, gap + font, one.width);
    context.drawImage(one, left, gap + step);
    left += one.width + gap;
  });
  context.font = `${font}${FONT}`;
  told.forEach((text, at) => context.fillText(text, gap, high + 2 * gap + step * (at + 2), width - 2 * gap));
  return canvas.convertToBlob({ type: "image/png" });
}

const safe = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Return the pictures as SVG: the photo as a picture, every class of pixels as one path. */
export async function svg(stages, titles, caption) {
  const parts = [], width = stages.reduce((sum, stage) => sum + stage.canvas.width + GAP, GAP), high = Math.max(...stages.map((stage) => stage.canvas.height));
  let left = GAP;
  for (const [at, stage] of stages.entries()) {
    parts.push(`<text x="${left}" y="${GAP + 8}" font-weight="600">${safe(titles[at])}</text>`);
    parts.push(`<svg x="${left}" y="${GAP + LINE}" width="${stage.canvas.width}" height="${stage.canvas.height}" viewBox="0 0 ${stage.canvas.width} ${stage.canvas.height}">${await drawing(stage)}</svg>`);
    left += stage.canvas.width + GAP;
  }
  const told = lines(caption, Math.floor((width - 2 * GAP) / 7));
  told.forEach((text, at) => parts.push(`<text x="${GAP}" y="${high + 2 * GAP + LINE * (at + 2)}">${safe(text)}</text>`));
  const height = high + LINE * (told.length + 1) + 3 * GAP;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="14" fill="#1b2127"><rect width="100%" height="100%" fill="#fff"/>${parts.join("")}</svg>`;
}

async function drawing(stage) {
  const [sx, sy] = stage.size, { width, height, page } = stage, made = [`<rect width="100%" height="100%" fill="#808080"/>`];
  const frame = `<g transform="translate(${stage.x} ${stage.y}) scale(${sx} ${sy})">`;
  made.push(frame, `<rect width="${width}" height="${height}" fill="#fff"/>`);
  const photo = page.layers.has("p") && page.photo(stage.axis), strength = page.layers.has("s") && page.strengthPicture(stage.detector, stage.axis);
  if (photo) made.push(await picture(photo, width, height, 1));
  if (strength) made.push(await picture(strength, width, height, photo ? 0.7 : 1));
  for (const [colour, pixels] of classes(stage)) {
    const [text, alpha] = rgba(colour);
    made.push(`<path fill="${text}"${alpha < 1 ? ` fill-opacity="${alpha.toFixed(2)}"` : ""} d="${runs(pixels, width)}"/>`);
  }
  made.push("</g>");
  const segments = [];
  stage.lines((ax, ay, bx, by) => segments.push(`M${ax.toFixed(1)} ${ay.toFixed(1)}L${bx.toFixed(1)} ${by.toFixed(1)}`), new OffscreenCanvas(1, 1).getContext("2d"));
  if (segments.length) made.push(`<path fill="none" stroke="#d81b60" stroke-width="${Math.max(1, Math.min(4, stage.scale / 5))}" d="${segments.join("")}"/>`);
  return made.join("");
}

/** Return the pixels of every colour; what lies on top takes the place of what is below. */
function classes(stage) {
  const last = new Map(), made = new Map();
  stage.paint((column, line, colour) => last.set(line * stage.width + column, colour));
  for (const [at, colour] of last) made.has(colour) ? made.get(colour).push(at) : made.set(colour, [at]);
  return made;
}

/** Return pixels as rectangles, those beside each other as one. */
function runs(pixels, width) {
  const text = [];
  pixels.sort((one, other) => one - other);
  for (let at = 0; at < pixels.length;) {
    let end = at + 1;
    while (end < pixels.length && pixels[end] === pixels[end - 1] + 1 && pixels[end] % width !== 0) end++;
    text.push(`M${pixels[at] % width} ${Math.floor(pixels[at] / width)}h${end - at}v1h-${end - at}z`);
    at = end;
  }
  return text.join("");
}

const rgba = (colour) => [`#${[colour & 255, (colour >> 8) & 255, (colour >> 16) & 255].map((one) => one.toString(16).padStart(2, "0")).join("")}`, (colour >>> 24) / 255];

async function picture(source, width, height, opacity) {
  const canvas = new OffscreenCanvas(source.width, source.height);
  canvas.getContext("2d").drawImage(source, 0, 0);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return `<image width="${width}" height="${height}" preserveAspectRatio="none" style="image-rendering:pixelated" opacity="${opacity}" href="data:image/png;base64,${btoa(text)}"/>`;
}
