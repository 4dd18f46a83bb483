// All tools, in the order of their buttons and options. A new one is a file in tools/ and a line here.

import { classes } from "./tools/classes.js";
import { delete_ } from "./tools/delete.js";
import { draw } from "./tools/draw.js";
import { erase } from "./tools/erase.js";
import { lasso } from "./tools/lasso.js";
import { move } from "./tools/move.js";
import { restore } from "./tools/restore.js";
import { specks } from "./tools/specks.js";
import { threshold } from "./tools/threshold.js";
import { wire } from "./tools/wire.js";

export const tools = [threshold, erase, lasso, delete_, restore, draw, wire, classes, move, specks];
