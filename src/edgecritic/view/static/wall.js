// The wall of all images: sorted, filtered, and walked through by keys.

const $ = (id) => document.getElementById(id);

const SORTS = {
  set: { text: "F at the data set's threshold", of: (image, a) => image.numbers[a]?.set },
  best: { text: "F at the image's own threshold", of: (image, a) => image.numbers[a]?.best },
  difference: { text: "difference of two detectors", several: true, of: (image, a, b) => minus(image.numbers[a]?.set, image.numbers[b]?.set) },
  agreement: { text: "agreement of annotators", of: (image) => image.agreement },
  name: { text: "name", of: () => null },
};

const minus = (one, other) => (one == null || other == null ? null : one - other);
export const short = (value) => (value == null ? "–" : value.toFixed(3).replace(/^(-?)0\./, "$1."));

export class Wall {
  /** `change(part)` takes over a part of the state; `address(image)` is that of the page of an image. */
  constructor(gallery, change, address) {
    Object.assign(this, { gallery, change, address });
    this.order = gallery.images.map((image, at) => at);
    const several = gallery.detectors.length > 1;
    fill($("wall-sort"), Object.entries(SORTS).filter(([, one]) => several || !one.several).map(([key, one]) => [key, one.text]));
    for (const id of ["wall-a", "wall-b"]) fill($(id), gallery.detectors.map((one) => [one.id, one.name]));
    for (const one of document.querySelectorAll(".only-several")) one.hidden = !several;
    $("wall-title").textContent = gallery.title;
    this.listen();
  }

  listen() {
    const bind = (id, name, read = (value) => value) => $(id).addEventListener("input", () => this.change({ [name]: read($(id).value) }));
    bind("wall-find", "q");
    bind("wall-sort", "sort");
    bind("wall-a", "a");
    bind("wall-b", "b");
    for (const [id, name] of [["wall-low", "low"], ["wall-high", "high"]]) bind(id, name, (value) => (value === "" ? undefined : Number(value)));
    $("wall-order").addEventListener("click", () => this.change({ order: this.state.order === "down" ? "up" : "down" }));
    $("wall-controls").addEventListener("submit", (event) => { event.preventDefault(); $("wall-list").querySelector("a")?.focus(); });
    $("wall-list").addEventListener("keydown", (event) => this.key(event));
  }

  show(state) {
    this.state = state;
    const { gallery } = this, find = (id, usual) => Math.max(0, gallery.detectors.findIndex((one) => one.id === (id ?? usual)));
    const a = find(state.a, gallery.detectors[0].id), b = find(state.b, gallery.detectors[1]?.id);
    const sort = SORTS[state.sort] ? state.sort : "set", down = state.order === "down";
    const value = (image) => SORTS[sort].of(image, a, b), words = (state.q ?? "").toLowerCase();
    const { low, high } = state, bounded = low !== undefined || high !== undefined;
    const inside = (found) => !bounded || (found != null && found >= (low ?? -Infinity) && found <= (high ?? Infinity));
    const rows = gallery.images.map((image, at) => ({ image, at, value: value(image) })).filter((row) => row.image.name.toLowerCase().includes(words) && inside(row.value));
    const by = down ? -1 : 1;
    rows.sort((one, other) => (one.value == null) - (other.value == null) || by * ((one.value ?? 0) - (other.value ?? 0)) || (sort === "name" ? by : 1) * (one.at - other.at));
    this.order = rows.map((row) => row.at);
    $("wall-list").replaceChildren(...rows.map((row) => this.card(row.image, sort, row.value)));
    $("wall-count").textContent = `${rows.length} of ${gallery.images.length} images${gallery.judged[0] < gallery.judged[1] ? `; ${gallery.judged[0]} of ${gallery.judged[1]} maps are judged` : ""}`;
    put($("wall-find"), state.q ?? ""); put($("wall-sort"), sort);
    put($("wall-a"), gallery.detectors[a].id); put($("wall-b"), gallery.detectors[b].id);
    put($("wall-low"), low ?? ""); put($("wall-high"), high ?? "");
    $("wall-order").textContent = down ? "largest first" : "smallest first";
    $("wall-order").setAttribute("aria-pressed", String(down));
    this.notes();
  }

  card(image, sort, value) {
    const item = document.createElement("li"), link = document.createElement("a"), picture = document.createElement("img"), name = document.createElement("b"), list = document.createElement("dl");
    link.href = this.address(image);
    Object.assign(picture, { src: `/thumb/${image.id}${this.gallery.class === null || image.photo ? "" : `?c=${encodeURIComponent(this.gallery.class)}`}`, alt: "", loading: "lazy", decoding: "async", width: 240, height: 160 });
    name.textContent = image.name;
    const which = sort === "best" ? "best" : "set";
    const rows = this.gallery.detectors.map((one, at) => [one.name, image.numbers[at]?.[which]]);
    if (sort === "difference" || sort === "agreement") rows.unshift([sort, value]);
    for (const [term, number] of rows) {
      const row = document.createElement("div"), dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = term; dd.textContent = `${term === sort ? "" : "F "}${short(number)}`;
      row.append(dt, dd); list.append(row);
    }
    link.append(picture, name, list);
    item.append(link);
    return item;
  }

  notes() {
    const { notes } = this.gallery, box = $("notes");
    box.hidden = notes.length === 0;
    box.querySelector("summary").textContent = `${notes.length} note${notes.length === 1 ? "" : "s"}`;
    box.querySelector("ul").replaceChildren(...notes.slice(0, 200).map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  }

  key(event) {
    const links = [...$("wall-list").querySelectorAll("a")], at = links.indexOf(document.activeElement);
    if (at < 0) return;
    const top = links[0].getBoundingClientRect().top, columns = Math.max(1, links.findIndex((one) => one.getBoundingClientRect().top > top + 4));
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -at, End: links.length - 1 - at };
    const to = links[at + (steps[event.key] ?? NaN)];
    if (!to) return;
    event.preventDefault();
    to.focus();
  }
}

export function fill(select, options) {
  select.replaceChildren(...options.map(([value, text]) => Object.assign(document.createElement("option"), { value, textContent: text })));
}

/** Set a field without moving the cursor of whoever types in it. */
function put(field, value) { if (field !== document.activeElement || field.tagName === "SELECT") field.value = value; }
