"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const DASHES = ["", "9 4", "2.5 2.5", "9 3 2.5 3"];
  const data = JSON.parse(document.getElementById("plot-data").textContent);
  const byId = (id) => document.getElementById(id);

  /* Small helpers. */
  function make(parent, name, attributes, text) {
    const element = document.createElementNS(SVG, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    parent.appendChild(element);
    return element;
  }
  function short(value, digits = 3) {
    return value === null || value === undefined ? "–" : value.toFixed(digits).replace(/^0\./, ".");
  }
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  /* Light and dark. */
  function startTheme() {
    const root = document.documentElement, button = byId("theme");
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
    const show = () => {
      button.setAttribute("aria-pressed", String(isDark()));
      button.textContent = isDark() ? "Light" : "Dark";
    };
    try {
      const kept = localStorage.getItem("edgecritic-theme");
      if (kept === "dark" || kept === "light") root.dataset.theme = kept;
    } catch { /* storage may be forbidden */ }
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try { localStorage.setItem("edgecritic-theme", root.dataset.theme); } catch { /* as above */ }
      show();
    });
    system.addEventListener("change", show);
    show();
  }

  /* Long tables: sorting and filtering. */
  function startImages() {
    document.querySelectorAll("table.sortable").forEach(startTable);
  }

  function startTable(table) {
    const name = table.dataset.name;
    const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
    const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
    const rows = [...body.rows].map((row) => {
      const texts = [...row.cells].map((cell) => cell.textContent);
      const keys = texts.map((text, place) => {
        if (place < 2) return text;
        const value = parseFloat(text);
        return Number.isNaN(value) ? -1 : value;
      });
      return { row, keys, search: (texts[0] + " " + texts[1]).toLowerCase() };
    });
    const find = byId(name + "-find"), pick = byId(name + "-pick"), count = byId(name + "-count");
    const box = table.parentElement, portion = 150;
    let order = rows, seen = rows, drawn = 0;
    /* Laying out thousands of rows takes long, so they are added as they are scrolled to. */
    function more() {
      const next = seen.slice(drawn, drawn + portion);
      drawn += next.length;
      body.append(...next.map((one) => one.row));
    }
    function show() {
      const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      seen = order.filter((one) =>
        (!pick.value || one.keys[1] === pick.value) && words.every((word) => one.search.includes(word)));
      body.replaceChildren();
      drawn = 0;
      more();
      box.scrollTop = 0;
      table.setAttribute("aria-rowcount", String(seen.length + 1));
      count.textContent = seen.length === rows.length ? rows.length + " rows" : seen.length + " of " + rows.length + " rows";
    }
    function sort(column) {
      const head = heads[column];
      const first = column < 2 ? "ascending" : "descending";
      const other = first === "ascending" ? "descending" : "ascending";
      const way = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((one) => one.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", way);
      const sign = way === "ascending" ? 1 : -1;
      order = rows.slice().sort((one, two) => {
        const a = one.keys[column], b = two.keys[column];
        return sign * (column < 2 ? collator.compare(a, b) : a - b);
      });
      show();
    }
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(column));
    });
    find.addEventListener("input", show);
    pick.addEventListener("change", show);
    box.addEventListener("scroll", () => {
      if (drawn < seen.length && box.scrollTop + 2 * box.clientHeight > box.scrollHeight) more();
    });
    byId(name + "-tools").hidden = false;
    show();
  }

  /* A frame with axes: returns the drawing and its scales. */
  function frame(host, size, limits, ticks, labels) {
    host.querySelectorAll("svg").forEach((old) => old.remove());
    const [width, height] = size, [x0, x1, y0, y1] = limits;
    const edge = { left: 44, right: 30, top: 10, bottom: 42 };
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("aria-hidden", "true");
    host.prepend(svg);
    const inner = { w: width - edge.left - edge.right, h: height - edge.top - edge.bottom };
    const x = (value) => edge.left + (inner.w * (value - x0)) / (x1 - x0);
    const y = (value) => edge.top + inner.h * (1 - (value - y0) / (y1 - y0));
    const clip = make(make(svg, "defs", {}), "clipPath", { id: host.id + "-clip" });
    make(clip, "rect", { x: edge.left - 1, y: edge.top - 1, width: inner.w + 2, height: inner.h + 2 });
    for (const tick of ticks.x) {
      make(svg, "line", { class: "grid", x1: x(tick), x2: x(tick), y1: y(y0), y2: y(y1) });
      make(svg, "text", { x: x(tick), y: y(y0) + 17, "text-anchor": "middle" }, ticks.xText(tick));
    }
    for (const tick of ticks.y) {
      make(svg, "line", { class: "grid", x1: x(x0), x2: x(x1), y1: y(tick), y2: y(tick) });
      make(svg, "text", { x: edge.left - 8, y: y(tick) + 4, "text-anchor": "end" }, ticks.yText(tick));
    }
    make(svg, "rect", { class: "axis", x: edge.left, y: edge.top, width: inner.w, height: inner.h });
    make(svg, "text", { x: edge.left + inner.w / 2, y: height - 6, "text-anchor": "middle" }, labels[0]);
    const middle = edge.top + inner.h / 2;
    make(svg, "text", { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }, labels[1]);
    const plot = make(svg, "g", { "clip-path": `url(#${host.id}-clip)` });
    return { svg, plot, x, y, edge, inner };
  }
  function path(points, x, y) {
    return points.map(([a, b], n) => (n ? "L" : "M") + x(a).toFixed(2) + " " + y(b).toFixed(2)).join("");
  }
  function steps(low, high, step) {
    const found = [];
    for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9; n++) found.push(n * step);
    return found;
  }

  /* Precision over recall. */
  function startCurves() {
    const host = byId("pr-chart");
    if (!host) return;
    const readout = byId("pr-readout"), zoom = byId("pr-zoom");
    const buttons = [...document.querySelectorAll(".legend [data-series]")];
    const series = data.series.map((one, rank) => ({
      ...one, rank, on: true, points: one.r.map((recall, n) => [recall, one.p[n]]),
    }));
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    host.append(tip);
    let scene = null, cursor = null, zoomed = false;

    function limits() {
      if (!zoomed) return [0, 1, 0, 1];
      const seen = series.filter((one) => one.on).map((one) => one.best);
      if (data.human) seen.push({ r: data.human.recall, p: data.human.precision });
      if (!seen.length) return [0, 1, 0, 1];
      const low = (key) => Math.max(0, Math.floor((Math.min(...seen.map((one) => one[key])) - 0.08) * 10) / 10);
      const high = (key) => Math.min(1, Math.ceil((Math.max(...seen.map((one) => one[key])) + 0.08) * 10) / 10);
      return [low("r"), high("r"), low("p"), high("p")];
    }
    function draw() {
      const width = Math.max(host.clientWidth, 240), range = limits();
      const step = Math.max(range[1] - range[0], range[3] - range[2]) > 0.6 ? (width < 420 ? 0.2 : 0.1) : 0.05;
      const text = (value) => short(value, step < 0.1 ? 2 : 1).replace(/^\.0+$/, "0").replace(/^1\.0+$/, "1");
      const ticks = { x: steps(range[0], range[1], step), y: steps(range[2], range[3], step), xText: text, yText: text };
      scene = frame(host, [width, width], range, ticks, ["Recall", "Precision"]);
      const { svg, plot, x, y } = scene;
      for (let tenth = 1; tenth <= 9; tenth++) drawIso(tenth / 10, range);
      for (const one of series.slice().reverse()) {
        if (!one.on) continue;
        make(plot, "path", {
          class: `line s${one.rank % 7}${one.own ? "" : " thin"}`, d: path(one.points, x, y),
          "stroke-dasharray": DASHES[one.rank % 4], "data-rank": one.rank,
        });
        make(plot, "circle", { class: `best s${one.rank % 7}`, cx: x(one.best.r), cy: y(one.best.p), r: 5 }).style.stroke = "var(--panel)";
      }
      if (data.human) make(plot, "circle", { class: "human", cx: x(data.human.recall), cy: y(data.human.precision), r: 6.5 });
      scene.marks = make(svg, "g", {});
      mark();
    }
    function drawIso(f, [x0, x1, y0, y1]) {
      const { svg, plot, x, y } = scene, low = f / (2 - f), points = [];
      for (let n = 0; n <= 60; n++) {
        const recall = low + (1 - low) * (n / 60) ** 3;
        points.push([recall, (f * recall) / (2 * recall - f)]);
      }
      make(plot, "path", { class: "iso", d: path(points, x, y) });
      const border = (f * x1) / (2 * x1 - f);
      if (border > y0 && border <= y1) {
        make(svg, "text", { class: "iso-text", x: x(x1) + 5, y: y(border) + 4 }, short(f, 1));
      }
    }
    function mark() {
      if (!scene) return;
      scene.marks.replaceChildren();
      const lit = cursor && series[cursor.rank].on ? cursor : null;
      buttons.forEach((button) => button.classList.toggle("lit", !!lit && Number(button.dataset.series) === lit.rank));
      scene.plot.querySelectorAll(".line").forEach((line) =>
        line.classList.toggle("dim", !!lit && Number(line.dataset.rank) !== lit.rank));
      tip.hidden = !lit;
      if (!lit) return;
      const one = series[lit.rank], [recall, precision] = one.points[lit.place];
      const px = scene.x(recall), py = scene.y(precision), { edge, inner } = scene;
      make(scene.marks, "line", { class: "cross", x1: px, x2: px, y1: py, y2: edge.top + inner.h });
      make(scene.marks, "line", { class: "cross", x1: edge.left, x2: px, y1: py, y2: py });
      make(scene.marks, "circle", { class: `here s${one.rank % 7}`, cx: px, cy: py, r: 5.5 });
      fill(one, lit.place);
      const box = host.getBoundingClientRect(), scale = box.width / scene.svg.viewBox.baseVal.width;
      const left = px * scale + 14 + tip.offsetWidth > box.width ? px * scale - 14 - tip.offsetWidth : px * scale + 14;
      tip.style.left = clamp(left, 0, Math.max(0, box.width - tip.offsetWidth)) + "px";
      tip.style.top = clamp(py * scale - tip.offsetHeight - 10, 0, box.height) + "px";
    }
    function fill(one, place) {
      const entries = [["threshold", one.t ? short(one.t[place]) : "not given"], ["precision", short(one.p[place])],
        ["recall", short(one.r[place])], ["F", short(one.f[place])]];
      const title = document.createElement("b"), grid = document.createElement("span");
      title.textContent = one.name;
      for (const [word, value] of entries) {
        const cells = [document.createElement("i"), document.createElement("i")];
        cells[0].textContent = word;
        cells[1].textContent = value;
        cells.forEach((cell) => { cell.style.fontStyle = "normal"; });
        grid.append(...cells);
      }
      tip.replaceChildren(title, grid);
      readout.textContent = one.name + ": " + entries.map(([word, value]) => word + " " + value).join(", ");
    }
    function nearest(event) {
      const box = scene.svg.getBoundingClientRect(), scale = scene.svg.viewBox.baseVal.width / box.width;
      const px = (event.clientX - box.left) * scale, py = (event.clientY - box.top) * scale;
      let found = null, least = Infinity;
      for (const one of series) {
        if (!one.on) continue;
        one.points.forEach(([recall, precision], place) => {
          const distance = (scene.x(recall) - px) ** 2 + (scene.y(precision) - py) ** 2;
          if (distance < least) { least = distance; found = { rank: one.rank, place }; }
        });
      }
      return found;
    }
    function point(event) { cursor = nearest(event); mark(); }
    function leave() { cursor = null; readout.textContent = "\u00a0"; mark(); }
    function bestPlace(one) {
      let best = 0;
      one.f.forEach((f, place) => { if (f > one.f[best]) best = place; });
      return best;
    }
    function shift(ranks) {
      const seen = series.filter((one) => one.on && one.points.length);
      if (!seen.length) return;
      const now = seen.findIndex((one) => cursor && one.rank === cursor.rank);
      const next = seen[clamp(now + ranks, 0, seen.length - 1)];
      cursor = { rank: next.rank, place: bestPlace(next) };
    }
    host.addEventListener("pointermove", point);
    host.addEventListener("pointerdown", point);
    host.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") leave(); });
    host.addEventListener("focus", () => { if (!cursor) { shift(1); mark(); } });
    host.addEventListener("blur", leave);
    host.addEventListener("keydown", (event) => {
      const along = { ArrowLeft: -1, ArrowRight: 1 }[event.key], across = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (event.key === "Escape") { leave(); return; }
      if (!along && !across) return;
      event.preventDefault();
      if (!cursor) shift(1);
      else if (across) shift(across);
      else {
        const one = series[cursor.rank], rising = one.r[0] <= one.r[one.r.length - 1] ? 1 : -1;
        cursor.place = clamp(cursor.place + along * rising, 0, one.points.length - 1);
      }
      mark();
    });
    buttons.forEach((button) => {
      const one = series[Number(button.dataset.series)];
      button.addEventListener("click", () => {
        one.on = !one.on;
        button.setAttribute("aria-pressed", String(one.on));
        draw();
      });
      button.addEventListener("pointerenter", () => {
        if (one.on && one.points.length) { cursor = { rank: one.rank, place: bestPlace(one) }; mark(); }
      });
      button.addEventListener("pointerleave", leave);
    });
    zoom.addEventListener("click", () => {
      zoomed = !zoomed;
      zoom.setAttribute("aria-pressed", String(zoomed));
      zoom.textContent = zoomed ? "Zoom out" : "Zoom in";
      draw();
    });
    window.addEventListener("beforeprint", leave);
    watch(host, draw);
  }

  /* ODS and OIS over tolerance. */
  function startTolerance() {
    const host = byId("tolerance-chart");
    if (!host) return;
    const inPixels = data.tolerances.every((one) => one.points.every((row) => row[0] !== null));
    const across = inPixels ? 0 : 1;
    const lines = data.tolerances.map((one) => ({
      ...one, points: one.points.filter((row) => row[across] !== null).sort((a, b) => a[across] - b[across]),
    }));
    const all = lines.flatMap((one) => one.points);
    if (!all.length) return;
    const top = Math.max(...all.map((row) => row[across])) * 1.04 || 1;
    const scores = all.flatMap((row) => [row[2], row[3]]);
    const low = Math.max(0, Math.floor((Math.min(...scores) - 0.01) * 10) / 10);
    const high = Math.min(1, Math.ceil((Math.max(...scores) + 0.01) * 10) / 10);
    const step = [1, 2, 5].flatMap((n) => [n / 1000, n / 100, n / 10, n, n * 10, n * 100]).sort((a, b) => a - b)
      .find((n) => top / n <= 8) || top;
    watch(host, () => {
      const width = Math.max(host.clientWidth, 240);
      const ticks = { x: steps(0, top, step), y: steps(low, high, 0.1), xText: (v) => String(+v.toFixed(4)), yText: (v) => short(v, 1) };
      const label = inPixels ? `Tolerance, ${data.unit || "px"}` : "Tolerance, share of the diagonal";
      const { plot, x, y } = frame(host, [width, Math.min(width * 0.62, 340)], [0, top, low, high], ticks, [label, "F"]);
      for (const one of lines.slice().reverse()) {
        for (const [column, thin] of [[3, " thin"], [2, ""]]) {
          const points = one.points.map((row) => [row[across], row[column]]);
          make(plot, "path", { class: `line s${one.style % 7}${thin}`, d: path(points, x, y), "stroke-dasharray": DASHES[one.style % 4] });
          for (const [a, b] of points) {
            const dot = make(plot, "circle", { class: `best s${one.style % 7}`, cx: x(a), cy: y(b), r: thin ? 3 : 4.5 });
            dot.style.stroke = "var(--panel)";
            make(dot, "title", {}, `${one.name}: ${thin ? "OIS" : "ODS"} ${short(b)} at ${+a.toFixed(3)}`);
          }
        }
      }
    });
  }
  function watch(host, draw) {
    let width = -1;
    new ResizeObserver(() => {
      if (host.clientWidth !== width && host.clientWidth > 0) { width = host.clientWidth; requestAnimationFrame(draw); }
    }).observe(host);
    draw();
  }

  /* Pictures, enlarged by whole factors so that pixels stay squares. */
  function startPictures() {
    const dialog = byId("zoom");
    if (!dialog) return;
    const big = byId("zoom-picture");
    document.querySelectorAll(".enlarge").forEach((button) => {
      button.addEventListener("click", () => {
        const small = button.querySelector("img");
        const width = Number(small.getAttribute("width")), height = Number(small.getAttribute("height"));
        const factor = Math.max(1, Math.floor(Math.min((window.innerWidth * 0.96) / width, (window.innerHeight * 0.96 - 64) / height)));
        big.src = small.src;
        big.alt = small.alt;
        big.width = width * factor;
        big.height = height * factor;
        byId("zoom-text").textContent = button.getAttribute("aria-label").replace(/^Enlarge /, "") + " · " + factor + "×";
        dialog.showModal();
      });
    });
    byId("zoom-close").addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  }

  startTheme();
  startImages();
  startCurves();
  startTolerance();
  startPictures();
})();
