// The page of one image: pictures of some detectors, what they share, and the numbers beside them.

import { abgr } from "./panzoom.js";
import { Chart, nearest } from "./chart.js";
import { Copies } from "./copies.js";
import { ThresholdField, check, rangeOf } from "./fields.js";
import { Ahead, Latest, bitmap, json, packed } from "./net.js";
import { Numbers, say } from "./numbers.js";
import { Overview, words as partOf } from "./overview.js";
import { Planes } from "./planes.js";
import { Sight, Space } from "./sight.js";
import { ONLY, Stage } from "./stage.js";
import { fill, short } from "./wall.js";

const $ = (id) => document.getElementById(id);
const LAYERS = [
  ["p", "photo"], ["s", "strength"], ["c", "candidate", "#1b2127"], ["h", "hits", "hit"], ["f", "false alarms", "alarm"], ["m", "misses", "miss"],
  ["l", "labels", null], ["r", "pairs", "#d81b60"], ["x", "displacement", null],
];
const USUAL = "phfm", AXES = ["planes", "rows", "columns"];
const PEOPLE = ["#d81b60", "#1e88e5", "#f57f17", "#00897b", "#8e24aa", "#6d4c41", "#43a047", "#3949ab"];
const BLINK = 700, REST = 180, SMALL = 2 ** 20;
const rgb = (colour) => (Array.isArray(colour) ? `rgb(${colour.join(" ")})` : colour);

export class ImagePage {
  /** `change(part)` takes over a part of the state, `go(image, part)` leads to another image, `tell` says something. */
  constructor(gallery, { change, go, tell }) {
    Object.assign(this, { gallery, change, go, tell, colours: gallery.colours });
    this.stages = [];
    this.pieces = new Map();
    this.opening = 0;
    this.curves = new Chart($("chart"));
    this.table = new Numbers($("numbers"));
    this.copies = new Copies(this, tell);
    this.overview = new Overview($("overview"), (place) => change({ w: place, zoom: undefined }));
    fill($("protocol"), gallery.protocols.map((one) => [one.id, one.id === "run" ? `of the run (${one.name})` : one.name]));
    this.controls();
  }

  // ---- what pictures ask for

  get people() { return this.chosenPeople; }
  get layers() { return new Set(this.state.layers ?? USUAL); }
  get mode() { return this.detectors.length < 2 ? "side" : this.state.mode ?? "side"; }
  get at() { return this.place; }
  /** The two detectors of a difference: the first two that are shown. */
  get compared() { return this.detectors.slice(0, 2); }

  detectorOf(which) { return this.mode === "blink" ? this.detectors[this.blinked % this.detectors.length] : this.detectors[which]; }
  /** Whether replies are made so quickly, and are so short, that some may be fetched before they are needed. */
  get small() { return this.space.size <= SMALL; }
  get replies() { return this.detectors.map((one) => this.pieces.get(one).reply); }
  get protocolName() { return this.gallery.protocols.find((one) => one.id === (this.state.p ?? "run")).name; }
  sight(detector) { return this.pieces.get(detector)?.sight; }
  photo(axis) { return this.planes.photo(axis, this.index(axis)); }
  index(axis) { return this.space.volume ? this.place[axis] : 0; }
  lineColour(detector) { return this.colours.lines[this.gallery.detectors.findIndex((one) => one.id === detector) % (this.colours.lines.length - 1)]; }
  personColour(person) { return PEOPLE[person % PEOPLE.length]; }
  nameOf(detector) { return this.gallery.detectors.find((one) => one.id === detector).name; }

  strengthPicture(detector, axis) { return this.planes.strength(detector, axis, this.index(axis))?.picture ?? null; }

  shade(distance, tolerance) {
    const { shades } = this.colours, at = tolerance > 0 ? Math.min(1, distance / tolerance) : 0;
    return abgr(shades[Math.min(shades.length - 1, Math.floor(at * shades.length))]);
  }

  // ---- opening

  async show(state) {
    const before = this.state;
    this.state = state;
    const { gallery } = this, known = gallery.detectors.map((one) => one.id);
    this.image = gallery.images.find((one) => one.id === state.i);
    if (!this.image) { this.tell("There is no such image in this run."); return; }
    const asked = (state.d ?? []).filter((one) => known.includes(one));
    this.detectors = asked.length ? asked : known.slice(0, 1);
    const fresh = !before || before.i !== state.i || (before.p ?? "run") !== (state.p ?? "run") || String(before.w) !== String(state.w) || this.of !== this.gallery.class || !this.ready;
    if (fresh) { await this.open(); return; }
    if (this.detectors.some((one) => !this.pieces.has(one))) { await this.addDetectors(); return; }
    this.update();
  }

  query(more = {}) {
    const given = { c: this.of, w: this.state.w?.join(","), p: this.state.p, s: this.state.s, ...more }, made = new URLSearchParams();
    for (const [name, value] of Object.entries(given)) if (value !== undefined && value !== null) made.set(name, value);
    const text = made.toString();
    return text ? `?${text}` : "";
  }

  async open() {
    const turn = ++this.opening, begun = performance.now();
    this.of = this.gallery.class;
    this.ready = false;
    document.body.dataset.ready = "no";
    this.pieces = new Map();
    this.planes = new Planes(this.image, () => this.query({ s: undefined }));
    try {
      const early = this.image.shape?.length === 2 ? this.fetchPhotos([[0, 0]]) : null;
      const pieces = this.detectors.map((one, at) => this.piece(one, at));
      const asked = [packed(`/truths/${this.image.id}${this.query({ s: undefined })}`), ...pieces];
      const [truths] = await Promise.all(asked);
      if (turn !== this.opening) return;
      this.truths = Array.from({ length: truths.annotators }, (_, at) => truths.arrays[at]);
      const { facts } = this.pieces.get(this.detectors[0]);
      this.facts = facts;
      this.space = new Space(facts.shape, facts.spacing, facts.window);
      this.place = this.placeOf();
      this.choosePeople();
      this.see();
      fill($("strategy"), [...new Set([facts.strategy, ...this.gallery.strategies])].map((one) => [one, one]));
      this.build();
      this.aim();
      this.boxes();
      this.ready = true;
      await this.showOverview();
      await early;
      await this.loadPlanes();
      if (turn !== this.opening) return;
      this.update({ asked: true });
      document.body.dataset.ready = "yes";
      mark("open", begun);
    } catch (error) { if (turn === this.opening) this.tell(error.message); }
  }

  /** Show where the window of a raster lies. */
  async showOverview() {
    $("overview").hidden = this.facts.window === null;
    if (this.facts.window === null) return;
    const [detector] = this.detectors, key = `${this.image.id} ${detector}`;
    if (this.smallOf !== key) { this.whole = await bitmap(`/small/${this.image.id}/${detector}`); this.smallOf = key; }
    this.overview.show(this.whole, this.facts);
  }

  /** Open a detector: its facts, and what is judged at its threshold. */
  async piece(detector, at) {
    const threshold = this.thresholdOf(detector, at);
    const piece = { threshold, live: null, sight: null, curve: null, ahead: new Ahead() };
    this.pieces.set(detector, piece);
    const open = async () => {
      piece.facts = await json(`/open/${this.image.id}/${detector}${this.query({ s: undefined })}`);
      if (piece.facts.shape.length === 2) await this.fetchStrengths([[0, 0]], [detector]);
    };
    const [, reply] = await Promise.all([open(), packed(this.judgePath(detector, threshold))]);
    piece.reply = reply;
    piece.asked = this.judgePath(detector, threshold);
    piece.live = new Latest((path, begun) => this.judge(detector, path, begun));
    piece.curves = new Latest((path) => this.curve(detector, path));
  }

  async addDetectors() {
    try {
      await Promise.all(this.detectors.map((one, at) => (this.pieces.has(one) ? null : this.piece(one, at))));
    } catch (error) { this.tell(error.message); return; }
    this.see();
    this.build();
    await this.loadPlanes();
    this.update({ asked: true });
  }

  thresholdOf(detector, at) {
    const told = this.state.t?.[at];
    if (told !== undefined) return told;
    const which = this.gallery.detectors.findIndex((one) => one.id === detector);
    return this.gallery.detectors[which].threshold ?? this.image.numbers[which]?.threshold ?? 0.5;
  }

  judgePath(detector, threshold) { return `/judge/${this.image.id}/${detector}${this.query({ t: threshold, tol: this.state.tol })}`; }

  placeOf() {
    const { shape } = this.space, told = this.state.at;
    if (!this.space.volume || told?.length !== 3) return shape.map((size) => Math.floor(size / 2) * Number(this.space.volume));
    return told.map((value, axis) => Math.min(shape[axis] - 1, Math.max(0, Math.round(value))));
  }

  choosePeople() {
    const all = this.truths.map((_, at) => at), told = (this.state.people ?? "").split(",").filter(Boolean).map((one) => Number(one) - 1);
    const chosen = all.filter((one) => told.includes(one));
    this.chosenPeople = chosen.length ? chosen : all;
  }

  /** Make what is seen of every detector anew. */
  see() {
    for (const piece of this.pieces.values()) if (piece.reply) piece.sight = new Sight(piece.reply, this.truths, this.people, this.space);
  }

  async loadPlanes() {
    const places = this.space.axes.map((axis) => [axis, this.index(axis)]);
    await Promise.all([this.fetchPhotos(places), this.fetchStrengths(places, this.detectors)]);
    this.redraw();
  }

  fetchPhotos(places) { return this.layers.has("p") ? this.planes.fetchPhotos(places) : null; }

  fetchStrengths(places, detectors) { return this.planes.fetchStrengths(places, detectors.filter((one) => !this.pieces.get(one).facts.segmentations)); }

  // ---- judging

  /** Ask for what has changed; what comes is drawn at once. */
  refresh(begun = performance.now()) {
    this.detectors.forEach((detector, at) => {
      const piece = this.pieces.get(detector), path = this.judgePath(detector, this.thresholdOf(detector, at));
      if (!piece?.live) return;
      if (path === piece.asked) return;
      piece.way = Math.sign(this.thresholdOf(detector, at) - piece.threshold);
      piece.threshold = this.thresholdOf(detector, at);
      piece.asked = path;
      piece.live.ask(path, begun);
    });
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.detectors.forEach((detector) => {
      const piece = this.pieces.get(detector), path = `/curve/${this.image.id}/${detector}${this.query({ tol: this.state.tol })}`;
      if (!piece?.curves) return;
      if (piece.curvePath !== path) { piece.curvePath = path; piece.curves.ask(path); }
      this.lookAhead(detector, [1, -1]);
    }), REST);
  }

  /** Fetch what the next step of the slider will show. */
  lookAhead(detector, ways) {
    const piece = this.pieces.get(detector);
    if (!piece?.live || piece.live.busy || !this.small) return;
    const [low, high, step] = rangeOf(piece.facts);
    for (const way of ways) {
      const next = Number((step * (Math.round(piece.threshold / step) + way)).toFixed(4));
      if (next >= low && next <= high) piece.ahead.take(this.judgePath(detector, next));
    }
  }

  async judge(detector, path, begun) {
    const piece = this.pieces.get(detector);
    try { piece.reply = await (this.small ? piece.ahead.take(path) : packed(path)); } catch (error) { this.tell(error.message); return; }
    if (this.pieces.get(detector) !== piece) return;
    piece.sight = new Sight(piece.reply, this.truths, this.people, this.space);
    for (const stage of this.stages) if (stage.drawable) stage.draw();
    this.numbers();
    this.chart();
    requestAnimationFrame(() => setTimeout(() => {
      mark("step", begun);
      this.lookAhead(detector, piece.way ? [piece.way] : []);
    }));
  }

  async curve(detector, path) {
    const piece = this.pieces.get(detector);
    try { piece.curve = await json(path); } catch { piece.curve = null; }
    if (this.pieces.get(detector) === piece) this.chart();
  }

  redraw() { for (const stage of this.stages) stage.invalidate(); }

  // ---- pictures

  build() {
    const { space, mode } = this, several = mode === "side" ? this.detectors.length : 1, key = `${several} ${space.shape} ${space.sizes}`;
    if (this.built === key) return;
    this.built = key;
    const box = $("stages"), columns = space.volume ? 3 : Math.min(several, 3);
    box.style.setProperty("--columns", columns);
    box.classList.toggle("planes", space.volume);
    this.stages = [];
    box.replaceChildren();
    for (let which = 0; which < several; which++) {
      for (const axis of space.axes) {
        const part = document.createElement("figure"), caption = document.createElement("figcaption"), canvas = document.createElement("canvas");
        canvas.tabIndex = 0;
        canvas.setAttribute("role", "img");
        caption.append(document.createElement("b"), document.createElement("span"));
        part.append(caption, canvas);
        box.append(part);
        const stage = new Stage(canvas, this, axis, which);
        stage.caption = caption;
        this.stages.push(stage);
      }
    }
    this.aim();
  }

  /** Look at what the address says, or at everything. */
  aim() {
    for (const stage of this.stages) {
      stage.resize();
      stage.following = true;
      stage.fit();
      stage.following = false;
      if (stage.axis === 0 && this.state.zoom?.length === 3) stage.look(this.state.zoom);
    }
  }

  linked(from) {
    const seen = from.seen;
    for (const stage of this.stages) if (stage !== from && stage.axis === from.axis) stage.look(seen);
    if (from.axis === 0) this.change({ zoom: seen.map((one) => Number(one.toFixed(3))) }, { quiet: true });
  }

  titles() {
    for (const stage of this.stages) {
      const words = this.titleOf(stage), [name, ...rest] = words;
      say(stage.caption.firstChild, name);
      say(stage.caption.lastChild, ` ${rest.join(" ")}`);
      stage.canvas.setAttribute("aria-label", `${this.image.name}, ${words.join(" ")}`);
    }
  }

  titleOf(stage) {
    const cut = this.space.volume ? `${AXES[stage.axis].slice(0, -1)} ${this.place[stage.axis]}` : "";
    if (this.mode === "difference") return [this.compared.map((one) => this.nameOf(one)).join(" − "), this.compared.map((one, at) => `${ONLY[at][1]}: only ${this.nameOf(one)}`).join(", "), cut];
    const reply = this.pieces.get(stage.detector)?.reply;
    return [this.nameOf(stage.detector), reply ? `F ${short(reply.f)}` : "", cut];
  }

  // ---- the pixel that is pointed at

  point(stage, pixel) {
    const box = $("pixel");
    if (!pixel) { box.textContent = "Point at a pixel to read it."; return; }
    const flat = stage.flat(pixel), { detector } = stage, sight = this.sight(detector), unit = this.space.inPixels ? " px" : "";
    const values = this.planes.strength(detector, stage.axis, this.index(stage.axis))?.values;
    const words = [this.space.words(flat)];
    if (values) words.push(`strength ${values[pixel[0] * stage.width + pixel[1]].toFixed(4)}`);
    if (sight) words.push(sight.hit[flat] ? "hit" : sight.alarms.includes(flat) ? "false alarm" : "not in the candidate");
    const drew = this.truths.map((list, at) => [list, at]).filter(([list]) => has(list, flat)).map(([, at]) => at + 1);
    words.push(drew.length ? `drawn by annotator ${drew.join(", ")}` : "drawn by nobody");
    const partners = [];
    for (const [person, { there, back }] of sight?.partners ?? []) {
      for (const [side, what] of [[there, "truth pixel"], [back, "candidate pixel"]]) {
        if (side.has(flat)) partners.push(`annotator ${person + 1}: ${what} at ${this.space.words(side.get(flat))}, ${this.space.distance(flat, side.get(flat)).toFixed(2)}${unit} away`);
      }
    }
    const shown = partners.slice(0, 2).join("; ");
    box.textContent = `${words.join(" · ")}\n${shown}${partners.length > 2 ? `; and ${partners.length - 2} more` : ""}`;
  }

  choose(stage, pixel) {
    if (!pixel || !this.space.volume) return;
    const place = [...this.place];
    [place[stage.down], place[stage.right]] = pixel;
    this.change({ at: place });
  }

  // ---- settings

  controls() {
    $("tolerance").addEventListener("input", () => this.set({ tol: Number($("tolerance").value) }));
    $("strategy").addEventListener("input", () => this.set({ s: $("strategy").value }));
    $("protocol").addEventListener("input", () => this.change({ p: $("protocol").value, tol: undefined, s: undefined }));
    for (const box of document.querySelectorAll("#modes input")) box.addEventListener("input", () => this.change({ mode: box.value }));
    $("layers").append(...LAYERS.map(([key, text, colour], at) => check(`${text}`, { key: at + 1, colour: colour && rgb(this.colours[colour] ?? colour), act: () => this.toggleLayer(key), name: key })));
    $("detectors").append(...this.gallery.detectors.map((one) => check(one.name, { colour: this.lineColour(one.id), name: one.id, act: () => this.toggleDetector(one.id) })));
    $("previous").addEventListener("click", () => this.step(-1));
    $("next").addEventListener("click", () => this.step(1));
  }

  /** Change what is judged: at once on the screen, in the address when it rests. */
  set(part) {
    const begun = performance.now();
    this.state = { ...this.state, ...part };
    this.refresh(begun);
    this.change(part, { quiet: true });
    this.fields();
  }

  toggleLayer(key) {
    const on = this.layers;
    if (!on.delete(key)) on.add(key);
    this.change({ layers: LAYERS.map(([one]) => one).filter((one) => on.has(one)).join("") || "-" });
  }

  toggleDetector(id) {
    const thresholds = new Map(this.detectors.map((one, at) => [one, this.thresholdOf(one, at)])), on = new Set(this.detectors);
    if (!on.delete(id)) on.add(id);
    const chosen = this.gallery.detectors.map((one) => one.id).filter((one) => on.has(one)), list = chosen.length ? chosen : [id];
    this.state = { ...this.state, t: undefined };
    this.change({ d: list, t: list.map((one, at) => thresholds.get(one) ?? this.thresholdOf(one, at)) });
  }

  boxes() {
    const made = this.truths.map((_, at) => check(`annotator ${at + 1}`, { colour: this.personColour(at), name: String(at), act: () => this.togglePerson(at) }));
    $("people").replaceChildren($("people").querySelector("legend"), ...made);
    $("people").hidden = this.truths.length < 2;
    if (!this.space.volume) { $("planes").hidden = true; return; }
    $("planes").hidden = false;
    $("planes").replaceChildren(...this.space.axes.map((axis) => {
      const label = document.createElement("label"), slider = Object.assign(document.createElement("input"), { type: "range", min: 0, max: this.space.shape[axis] - 1, step: 1 }), told = document.createElement("output");
      slider.dataset.axis = axis;
      slider.addEventListener("input", () => { const place = [...this.place]; place[axis] = Number(slider.value); this.change({ at: place }); });
      label.append(`${AXES[axis][0].toUpperCase()}${AXES[axis].slice(1, -1)} `, told, slider);
      return label;
    }));
  }

  togglePerson(at) {
    const on = new Set(this.people);
    if (!on.delete(at)) on.add(at);
    this.change({ people: on.size === this.truths.length ? undefined : [...on].sort((a, b) => a - b).map((one) => one + 1).join(",") });
  }

  thresholdFields() {
    const box = $("thresholds"), key = `${this.image.id} ${this.of} ${this.detectors}`;
    if (box.dataset.key !== key) {
      box.dataset.key = key;
      this.sliders = this.detectors.map((detector, at) => this.thresholdField(detector, at));
      box.replaceChildren(...this.sliders.map((one) => one.part));
    }
    this.sliders.forEach((one, at) => one.show(this.thresholdOf(this.detectors[at], at)));
  }

  thresholdField(detector, at) {
    const which = this.gallery.detectors.findIndex((one) => one.id === detector);
    const best = [["data set's best", this.gallery.detectors[which].threshold], ["image's best", this.image.numbers[which]?.threshold]];
    return new ThresholdField(`Threshold${this.detectors.length > 1 ? ` of ${this.nameOf(detector)}` : ""}`, this.pieces.get(detector).facts, best, (value) => this.setThreshold(at, value));
  }

  setThreshold(at, value) {
    const list = this.detectors.map((one, place) => this.thresholdOf(one, place));
    list[at] = value;
    this.set({ t: list });
  }

  fields() {
    this.thresholdFields();
    const { facts } = this, tolerance = this.state.tol ?? facts.tolerance, unit = this.space.inPixels ? " px" : "";
    $("tolerance").max = facts.most;
    $("tolerance").value = tolerance;
    say($("tolerance-text"), `${tolerance.toFixed(2)}${unit}${this.state.tol === undefined ? " (the protocol's)" : ""}`);
    const strategy = this.state.s ?? facts.strategy;
    $("strategy").value = strategy;
    $("protocol").value = this.state.p ?? "run";
    for (const box of document.querySelectorAll("#modes input")) box.checked = box.value === this.mode;
    $("modes").hidden = this.detectors.length < 2;
    for (const box of $("layers").querySelectorAll("input")) box.checked = this.layers.has(box.name);
    for (const box of $("detectors").querySelectorAll("input")) box.checked = this.detectors.includes(box.name);
    for (const box of $("people").querySelectorAll("input")) box.checked = this.people.includes(Number(box.name));
    for (const slider of $("planes").querySelectorAll("input")) { slider.value = this.place[slider.dataset.axis]; say(slider.parentNode.querySelector("output"), slider.value); }
  }

  update({ asked = false } = {}) {
    if (!this.ready) return;
    this.choosePeople();
    const place = this.placeOf(), moved = String(place) !== String(this.place);
    this.place = place;
    this.see();
    this.build();
    this.blink();
    $("image-name").textContent = this.image.name;
    const size = this.facts.extent.join(" × "), part = this.facts.window === null ? "" : `; shown and judged here: ${partOf(this.facts)}`;
    $("image-facts").textContent = `${size} ${this.space.volume ? "voxels" : "pixels"}${part}${this.facts.changed ? "; its files have changed since they were judged" : ""}`;
    this.fields();
    this.refresh();
    this.numbers();
    this.chart();
    if (moved || !asked) this.loadPlanes();
    this.redraw();
  }

  blink() {
    const on = this.mode === "blink";
    if (on === Boolean(this.blinking)) return;
    clearInterval(this.blinking);
    this.blinking = null;
    this.blinked = 0;
    if (on) this.blinking = setInterval(() => { this.blinked++; this.titles(); this.redraw(); }, BLINK);
  }

  leave() { clearInterval(this.blinking); this.blinking = null; clearTimeout(this.resting); this.opening++; this.ready = false; this.state = {}; this.built = ""; $("thresholds").dataset.key = ""; }

  // ---- numbers

  numbers() {
    this.titles();
    const rows = [], scores = (one) => [short(one.precision), short(one.recall), short(one.f)];
    for (const detector of this.detectors) {
      const { reply } = this.pieces.get(detector), { counts } = reply;
      rows.push({ name: this.facts.window === null ? this.nameOf(detector) : this.detectors.length > 1 ? `${this.nameOf(detector)}, window` : "window", kind: "", texts: [...scores(reply), counts.matched_candidate, counts.candidate - counts.matched_candidate, counts.truth - counts.matched_truth] });
      rows.push(...this.wholeRow(detector));
      if (reply.annotators.length > 1 && this.detectors.length === 1) reply.annotators.forEach((one, at) => rows.push({ name: `annotator ${at + 1}`, kind: "person", texts: [...scores(one), one.tp, one.fp, one.fn] }));
    }
    this.table.show(rows);
  }

  /** Whether a number that the run has found is one of what is shown: of its protocol, strategy and tolerance. */
  get asJudged() { return this.state.tol === undefined && this.state.s === undefined && (this.state.p ?? "run") === "run"; }

  /** What the run has found of the whole raster of which a window is shown. */
  wholeRow(detector) {
    const { facts: { whole }, reply } = this.pieces.get(detector);
    if (!whole || !reply || !this.asJudged) return [];
    const at = nearest(whole.threshold, reply.threshold), hits = whole.matched_candidate[at];
    const texts = [...["precision", "recall", "f"].map((name) => short(whole[name][at])), hits, whole.candidate[at] - hits, whole.truth[at] - whole.matched_truth[at]];
    return [{ name: `whole at ${Number(whole.threshold[at].toFixed(3))}`, kind: "person", texts }];
  }

  chart() {
    this.curves.draw(this.detectors.map((detector) => {
      const piece = this.pieces.get(detector), known = this.gallery.detectors.find((one) => one.id === detector);
      return { colour: this.lineColour(detector), image: piece.curve, set: known.curve, point: piece.reply };
    }));
    $("copy-command").hidden = this.replies.some((one) => one?.command === null);
    say($("chart-text"), `Thick: this ${this.facts.window === null ? "image" : "window"}. Dashed: the data set${this.asJudged ? "" : ", by the protocol of the run"}. Dot: what is shown; ring: the data set at this threshold.`);
  }

  // ---- away from here

  step(by) { this.go(by); }

  key(event) {
    const at = Number(event.key) - 1;
    if (event.key === "[") this.step(-1);
    else if (event.key === "]") this.step(1);
    else if (event.key === "{" || event.key === "}") this.nextClass(event.key === "}" ? 1 : -1);
    else if (event.key === "," || event.key === ".") this.nudge(event.key === "." ? 1 : -1);
    else if (event.key === "<" || event.key === ">") this.set({ tol: Math.min(this.facts.most, Math.max(0, Number(((this.state.tol ?? this.facts.tolerance) + (event.key === ">" ? 0.1 : -0.1)).toFixed(3)))) });
    else if (event.key === "b" || event.key === "d") this.change({ mode: this.mode === { b: "blink", d: "difference" }[event.key] ? "side" : { b: "blink", d: "difference" }[event.key] });
    else if (at >= 0 && at < LAYERS.length) this.toggleLayer(LAYERS[at][0]);
    else return;
    event.preventDefault();
  }

  nextClass(by) {
    const { classes } = this.gallery, many = classes.length;
    if (many) this.change({ c: classes[(classes.indexOf(this.of) + by + many) % many], t: undefined });
  }

  nudge(by) {
    const [low, high, step] = rangeOf(this.facts);
    this.set({ t: this.detectors.map((one, at) => Math.min(high, Math.max(low, Number((this.thresholdOf(one, at) + by * step).toFixed(4))))) });
  }
}

/** Tell whether an ascending list has a number. */
function has(list, wanted) {
  let low = 0, high = list.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (list[middle] === wanted) return true;
    if (list[middle] < wanted) low = middle + 1; else high = middle - 1;
  }
  return false;
}

/** Note how long something took until it was on the screen. */
function mark(name, begun) {
  if (performance.getEntriesByName(name).length > 500) performance.clearMeasures(name);
  performance.measure(name, { start: begun, end: performance.now() });
}
