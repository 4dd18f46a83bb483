// The eraser: removes what is below the brush.

import { Brush, resizeBy, showSize, sizeField } from "../brush.js";

class Erase extends Brush {
  name = "erase"; label = "Erase"; title = "Eraser"; key = "e";
  icon = "M4 15l9-9a2 2 0 0 1 3 0l4 4a2 2 0 0 1 0 3l-7 7H9zM8.500 10.500l6 6M5 21h15";
  hint = "Drag to erase.";
  keys = { "[": () => resizeBy(-1), "]": () => resizeBy(1) };
  help = [[["[", "]"], "smaller, larger brush"]];

  options() { return [sizeField()]; }
  show() { showSize(); }
}

export const erase = new Erase();
