// What all parts of the labelling tool share: the page, its addresses, and the state of the work.

export const $ = (id) => document.getElementById(id);
export const setup = document.querySelector("main").dataset;
export const work = `/g/${setup.guest}/annotations/${setup.annotation}`;
export const files = `/g/${setup.guest}/images/${setup.image}`;

/** The map with its history, the canvas, the saving and the live-wire, made by label.js; the tool and what it is doing. */
export const desk = {
  state: null, history: null, view: null, sync: null, wire: null,
  tool: "erase", radius: 6, finished: setup.submitted === "yes",
  stroke: null, points: [], preview: [], hover: null, cursor: null,
};
