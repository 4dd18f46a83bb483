// What all parts of the labelling tool share: the page, its addresses, and the state of the work.

export const $ = (id) => document.getElementById(id);
export const setup = document.querySelector("main").dataset;
export const work = `/g/${setup.guest}/annotations/${setup.annotation}`;
export const files = `/g/${setup.guest}/images/${setup.image}`;

/** The map with its history, the gradient, the canvas, the saving, all tools and the chosen one, made by label.js; where the pointer and the cursor are. */
export const desk = {
  state: null, history: null, gradient: null, view: null, sync: null, tools: [], tool: null,
  /** Of a large image: what loads the proposal and the gradient. */
  levelTiles: null, gradientTiles: null,
  finished: setup.submitted === "yes", hover: null, cursor: null,
  /** Whether the map cannot be changed here: it is submitted, or another window has gone on. */
  get locked() { return this.finished || Boolean(this.sync?.stopped); },
};
