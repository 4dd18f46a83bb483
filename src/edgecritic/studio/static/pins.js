// Numbered pins at places of an image.

/** Draw a pin whose tip is at a place of the canvas. */
export function drawPin(context, x, y, words, { ratio = 1, done = false } = {}) {
  const size = 11 * ratio, high = y - 2.1 * size;
  context.save();
  context.beginPath();
  context.moveTo(x, y);
  context.arc(x, high, size, 0.75 * Math.PI, 0.25 * Math.PI);
  context.closePath();
  context.lineWidth = 2 * ratio;
  context.strokeStyle = "#ffffff";
  context.fillStyle = done ? "#4a5560" : "#b42318";
  context.stroke();
  context.fill();
  context.fillStyle = "#ffffff";
  context.font = `600 ${Math.round(12 * ratio)}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(words, x, high);
  context.restore();
}
