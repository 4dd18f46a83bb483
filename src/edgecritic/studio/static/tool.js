// What every tool is: an object with a name and what it does at the pointer, by keys and in the panel.

/**
 * A tool with a `label` has a button, by which, or by its `key`, it is chosen; then `cursor` is that of the pointer and `hint` is shown.
 * One without works by its options and keys alone. Pixels are [x, y] and may lie outside of the image.
 */
export class Tool {
  name = ""; label = ""; title = ""; key = ""; icon = ""; hint = ""; cursor = "crosshair";
  /** Whether a submitted map may be shown by it too. */
  harmless = false;
  /** Whether it is offered on this page. */
  get available() { return true; }
  /** Whether it makes lines, which have an end. */
  lines = false;
  /** What keys do, whichever tool is chosen. */
  keys = {};
  /** Rows of the help: [keys, words]. */
  help = [];

  /** The elements of the tool in the panel. */
  options() { return []; }
  /** Show in the options how things are. */
  show() {}

  /** The pointer was pressed on the canvas, … */
  begin(_pixel, _event) {}
  /** … moved over these pixels, … */
  move(_pixels, _event) {}
  /** … and let go. */
  end(_pixel, _event) {}
  /** The press is given up: a second finger came, or Escape. */
  cancel() {}
  /** Act at one pixel, by the keyboard. */
  act(pixel) { this.begin(pixel, null); this.end(pixel, null); }
  /** The pointer or the cursor of the keyboard is elsewhere; `before` is where it was. */
  hover(_before) {}

  /** End what several presses make, … */
  finish() {}
  /** … or give it up, … */
  discard() {}
  /** … or take its last step back; tell whether there was one. */
  back() { return false; }
  /** Whether there is such a step. */
  get pending() { return false; }

  /** Draw over the map; `at` is the pixel of the pointer, or null. */
  draw(_context, _view, _at) {}
}
