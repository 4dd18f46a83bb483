// The owner's pages: uploads, invitations, live progress.

import { get, send } from "./net.js";

const $ = (id) => document.getElementById(id);

for (const input of document.querySelectorAll("input[data-upload]")) {
  input.addEventListener("change", () => upload(input));
}

// Files are dropped on the field of their kind; elsewhere on the page they are photos.
const isFiles = (event) => event.dataTransfer?.types.includes("Files");
const inputAt = (event) => event.target.closest("[data-drop]")?.querySelector("input[data-upload]") ?? document.querySelector("input[data-page-drop]");

function mark(input) {
  for (const zone of document.querySelectorAll("[data-drop]")) zone.toggleAttribute("data-over", zone.contains(input));
}

document.addEventListener("dragover", (event) => {
  const input = isFiles(event) && inputAt(event);
  if (!input) return;
  event.preventDefault();
  mark(input);
});
document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) mark(null); });
document.addEventListener("drop", (event) => {
  const input = isFiles(event) && inputAt(event);
  if (!input) return;
  event.preventDefault();
  mark(null);
  if (event.dataTransfer.files.length) upload(input, [...event.dataTransfer.files]);
});

async function upload(input, files = [...input.files]) {
  const log = $(input.dataset.log);
  let done = 0;
  const problems = [], failed = [];
  for (const file of files) {
    log.textContent = `${done} of ${files.length} …`;
    const query = new URLSearchParams(input.dataset.kind
      ? { kind: input.dataset.kind, name: mapName(input, file), file: file.name }
      : { name: file.name });
    try {
      await send(`${input.dataset.upload}?${query}`, { body: file });
      done++;
    } catch (failure) {
      problems.push(`${file.name}: ${failure.message}`);
      failed.push(file);
    }
  }
  input.value = "";
  if (done && !problems.length) { location.reload(); return; }
  log.textContent = `${done} of ${files.length} taken, ${failed.length} not:\n${problems.join("\n")}`;
  if (failed.length) log.append("\n", retry(input, failed));
  if (done) await renewGallery();
}

/** A button that sends the files again that were not taken. */
function retry(input, files) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = files.length === 1 ? "Try this file again" : `Try these ${files.length} files again`;
  button.addEventListener("click", () => upload(input, files));
  return button;
}

/** Show what was taken, without losing what is said of the rest. */
async function renewGallery() {
  const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
  const fresh = page.getElementById("gallery"), shown = $("gallery");
  if (fresh && shown) shown.replaceWith(fresh);
  else if (fresh) $("no-images").replaceWith(fresh);
}

function mapName(input, file) {
  const typed = input.dataset.name ? $(input.dataset.name).value.trim() : "";
  const folder = (file.webkitRelativePath || "").split("/").at(-2);
  return typed || folder || "imported";
}

for (const form of document.querySelectorAll("form[data-invite]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const names = form.elements.names.value.split(/[\n,;]/).map((name) => name.trim()).filter(Boolean);
    const list = $("links"), log = $("invite-log");
    try {
      const { invited } = await send(form.dataset.invite, { json: { names } });
      log.textContent = "Copy these links now: they are not shown again.";
      for (const { name, path } of invited) list.append(linkRow(name, new URL(path, location.href).href));
      form.reset();
      refresh();
    } catch (failure) {
      log.textContent = failure.message;
    }
  });
}

function linkRow(name, address) {
  const row = document.createElement("li"), label = document.createElement("b"), field = document.createElement("input");
  const button = document.createElement("button");
  label.textContent = name;
  field.value = address;
  field.readOnly = true;
  field.setAttribute("aria-label", `Link of ${name}`);
  field.addEventListener("focus", () => field.select());
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    field.select();
    try { await navigator.clipboard.writeText(address); button.textContent = "Copied"; } catch { document.execCommand("copy"); }
  });
  row.append(label, field, button);
  return row;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-renew]");
  if (!button || !window.confirm(`Give ${button.dataset.name} a new link? The old one stops working; the work stays.`)) return;
  try {
    const { invited } = await send(button.dataset.renew, { json: {} });
    $("invite-log").textContent = "Copy this link now: it is not shown again.";
    for (const { name, path } of invited) $("links").prepend(linkRow(name, new URL(path, location.href).href));
    $("links").querySelector("input").focus();
    refresh();
  } catch (failure) { $("invite-log").textContent = failure.message; }
});

document.addEventListener("submit", (event) => {
  const asked = event.target.dataset.confirm;
  if (asked && !window.confirm(asked)) event.preventDefault();
});

for (const form of document.querySelectorAll("form[data-recruit]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const log = $("recruit-log"), list = $("recruit-links");
    try {
      const { path } = await send(form.dataset.recruit, { json: { places: Number(form.elements.places.value) } });
      list.replaceChildren();
      log.textContent = path ? "Copy the link now: it is not shown again. What subjects see is fixed from now on." : "There is no recruiting link any more.";
      if (!path) return;
      const address = new URL(path, location.href).href;
      for (const [service, names] of JSON.parse(list.dataset.services)) list.append(linkRow(service, `${address}?${filled(service, names)}`));
    } catch (failure) { log.textContent = failure.message; }
  });
}

/** The ids of a link as a service fills them in. */
function filled(service, names) {
  const marks = { Prolific: (name) => `{{%${name}%}}`, "Mechanical Turk": (name) => `\${${name}}` };
  return Object.values(names).map((name) => `${name}=${(marks[service] ?? (() => "…"))(name)}`).join("&");
}

for (const form of document.querySelectorAll("form[data-busy]")) {
  form.addEventListener("submit", () => { form.querySelector("button").textContent = form.dataset.busy; });
}

const progress = $("progress");
let shown = "";

async function refresh() {
  if (!progress?.dataset.live) return;
  try {
    const now = await get(progress.dataset.live);
    const state = `${now.answered}/${now.total}/${now.opened}`;
    if (state !== shown) {
      shown = state;
      progress.replaceChildren(...new DOMParser().parseFromString(now.html, "text/html").body.childNodes);
    }
  } catch { /* the next turn tries again */ }
}

if (progress?.dataset.live) setInterval(() => { if (!document.hidden) refresh(); }, 2000);
