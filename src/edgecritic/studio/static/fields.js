// Elements of the page: buttons of tools, their options, rows of the help.

/** Make an element; `properties` are those of its object. */
export function element(kind, properties = {}, ...children) {
  const made = Object.assign(document.createElement(kind), properties);
  made.append(...children);
  return made;
}

/** A slider whose value is told beside its name by an element with the id `ID-text`. */
export function slider(words, { id, min, max, value, keys, disabled = false, input = () => {}, change = () => {} }) {
  const field = element("input", { type: "range", id, min, max, value, disabled, ariaKeyShortcuts: keys });
  field.addEventListener("input", () => input(Number(field.value)));
  field.addEventListener("change", () => change(Number(field.value)));
  return element("label", {}, `${words} `, element("output", { id: `${id}-text` }), field);
}

export function check(words, { id, key = "", checked = false }) {
  const mark = key ? [element("kbd", {}, key)] : [];
  return element("label", { className: "check" }, element("input", { type: "checkbox", id, checked }), ` ${words} `, ...mark);
}

/** The button that chooses a tool. */
export function toolButton({ name, label, title, key, icon }, choose) {
  const button = element("button", { title: `${title} (${key.toUpperCase()})`, ariaKeyShortcuts: key, onclick: choose }, picture(icon), element("span", {}, label));
  button.dataset.tool = name;
  return button;
}

function picture(icon) {
  const [drawing, path] = ["svg", "path"].map((kind) => document.createElementNS("http://www.w3.org/2000/svg", kind));
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  path.setAttribute("d", icon);
  drawing.append(path);
  return drawing;
}

/** A row of the help: keys, and what they do. */
export function helpRow(keys, words) {
  const marks = keys.flatMap((key) => [element("kbd", {}, key), " "]);
  return [element("dt", {}, ...marks), element("dd", {}, words)];
}
