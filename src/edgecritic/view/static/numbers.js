// The table of numbers; while a threshold moves only the texts change that have become others.

const HEAD = ["judged", "P", "R", "F", "hits", "false", "missed"];

/** Write a text where it is another one: what stays needs no new layout. */
export function say(node, text) { if (node.textContent !== text) node.textContent = text; }

export class Numbers {
  constructor(table) {
    table.tHead.replaceChildren(row(HEAD.map((text) => cell("th", text, "col"))));
    this.body = table.tBodies[0];
  }

  /** `rows` are {name, texts, kind}: the name of the row, what its cells say, and the class of its style. */
  show(rows) {
    while (this.body.rows.length > rows.length) this.body.lastChild.remove();
    rows.forEach(({ name, texts, kind }, at) => {
      const line = this.body.rows[at] ?? this.body.appendChild(row([cell("th", "", "row"), ...HEAD.slice(1).map(() => cell("td", ""))]));
      if (line.className !== kind) line.className = kind;
      [name, ...texts].forEach((text, place) => say(line.cells[place], String(text)));
    });
  }
}

function cell(kind, text, scope) { return Object.assign(document.createElement(kind), { textContent: text }, scope ? { scope } : {}); }

function row(cells) {
  const made = document.createElement("tr");
  made.append(...cells);
  return made;
}
