// A stroke: shown while it grows, one edit when it ends, several if it is very long.

import { commit } from "./commit.js";
import { desk } from "./desk.js";
import { MOST_POINTS, MOST_STEPS, Patch, stepsOf } from "./fold.js";

export class Stroke {
  /** touch(patch, x0, y0, x1, y1) changes the map along a line, at most `reach` pixels beside it; edit(points) is the edit that does the same. */
  constructor(pixel, { touch, edit, reach = 0 }) {
    Object.assign(this, { touch, edit, reach });
    this.begin(desk.view.clamp(pixel));
  }

  begin([x, y]) {
    this.points = [x, y];
    this.steps = 0;
    this.patch = new Patch();
    this.touch(this.patch, x, y, x, y);
    this.refresh(x, y, x, y);
  }

  extend(pixel) {
    const [x, y] = desk.view.clamp(pixel), from = this.points.slice(-2);
    if (x === from[0] && y === from[1]) return;
    const steps = stepsOf([...from, x, y]);
    if (this.steps + steps > MOST_STEPS) { this.end(); this.begin(from); }
    this.steps += steps;
    this.touch(this.patch, ...from, x, y);
    this.points.push(x, y);
    this.refresh(Math.min(x, from[0]), Math.min(y, from[1]), Math.max(x, from[0]), Math.max(y, from[1]));
    if (this.points.length > 2 * MOST_POINTS) { this.end(); this.begin([x, y]); }
  }

  end() { commit(this.edit(this.points), this.patch); }

  /** Take everything back that is shown. */
  drop() {
    desk.state.revert(this.patch);
    if (this.patch.box) desk.view.refresh(this.patch.box);
  }

  refresh(x0, y0, x1, y1) {
    const more = this.reach;
    desk.view.refresh([...desk.view.clamp([x0 - more, y0 - more]), ...desk.view.clamp([x1 + more, y1 + more])]);
  }
}
