// All tools, in the order of their buttons and options. A new one is a file in tools/ and a line here.

import { delete_ } from "./tools/delete.js";
import { draw } from "./tools/draw.js";
import { erase } from "./tools/erase.js";
import { move } from "./tools/move.js";
import { specks } from "./tools/specks.js";
import { threshold } from "./tools/threshold.js";
import { wire } from "./tools/wire.js";

export const tools = [threshold, erase, delete_, draw, wire, move, specks];
