// Move the image. The middle and the right button, and Alt, do the same with every tool.

import { desk } from "../desk.js";
import { Tool } from "../tool.js";

class Move extends Tool {
  name = "move"; label = "Move"; title = "Move the image"; key = "h"; cursor = "grab";
  icon = "M12 3v18M3 12h18M12 3l-3 3M12 3l3 3M12 21l-3-3M12 21l3-3M3 12l3-3M3 12l3 3M21 12l-3-3M21 12l-3 3";
  hint = "Drag to move the image. The wheel zooms.";
  harmless = true;
  from = null;

  begin(_pixel, event) { this.from = desk.view.place(event); }
  move(_pixels, event) {
    const [x, y] = desk.view.place(event);
    desk.view.pan(x - this.from[0], y - this.from[1]);
    this.from = [x, y];
  }
  act() {}
}

export const move = new Move();
