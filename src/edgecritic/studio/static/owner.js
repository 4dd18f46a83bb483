// The owner's pages: uploads, invitations, live progress.

import { get, send } from "./net.js";

const $ = (id) => document.getElementById(id);

for (const input of document.querySelectorAll("input[data-upload]")) {
  input.addEventListener("change", () => upload(input));
}

async function upload(input) {
  const log = $(input.dataset.log), files = [...input.files];
  let done = 0;
  const problems = [];
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
    }
  }
  log.textContent = `${done} of ${files.length} taken.${problems.length ? `\n${problems.join("\n")}` : ""}`;
  input.value = "";
  if (done && !problems.length) location.reload();
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

for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => { if (!window.confirm(form.dataset.confirm)) event.preventDefault(); });
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
