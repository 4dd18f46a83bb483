// Texts of a procedure, with values put in.

/** Put values into a text; of a form for one and one for many, divided by `|`, `count` takes one. */
export function fill(text, values = {}) {
  const forms = text.split("|");
  const chosen = values.count !== undefined && forms.length > 1 ? forms[values.count === 1 ? 0 : 1] : text;
  return chosen.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}
