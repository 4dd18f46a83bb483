// The owner's editor of what subjects go through: texts, consent, questions, sizes, the end.

import { element } from "./fields.js";
import { get, send } from "./net.js";

const $ = (id) => document.getElementById(id);
const setup = document.querySelector("main").dataset;
const form = $("procedure"), parts = ["before", "after"];
const TEXTS = ["consent", "keep_until", "code", "address"], NUMBERS = ["size", "break_every"], FLAGS = ["need_size", "enlarged", "need_id", "own_code"];

let known = null;
const usual = () => known.usual[form.elements.language.value] ?? known.usual.en;
const instruction = () => `instruction_${known.mode === "maps" ? "maps" : "segments"}`;

async function start() {
  known = await get(`${setup.path}/procedure.json`);
  const { procedure } = known, fields = form.elements;
  fields.language.value = procedure.language;
  for (const name of [...TEXTS, ...NUMBERS]) fields[name].value = procedure[name];
  for (const name of FLAGS) if (fields[name]) fields[name].checked = procedure[name];
  for (const name of ["practice", "checks"]) fields[name].value = known[name];
  showTexts(procedure.texts);
  for (const part of parts) for (const one of procedure[part]) add(part, one);
  fields.language.addEventListener("change", () => showTexts(changed()));
  form.addEventListener("submit", save);
  form.addEventListener("click", act);
  form.addEventListener("change", (event) => { if (event.target.dataset.field === "kind") showKind(event.target.closest(".question")); });
  document.body.dataset.ready = "yes";
}

/** Show the texts of the language; what the owner has changed stays. */
function showTexts(own) {
  const words = { ...usual(), ...own }, first = instruction(), other = known.mode === "maps" ? "_segments" : "_maps";
  form.elements.instruction.value = words[first];
  const names = Object.keys(usual()).filter((name) => name !== first && !name.endsWith(other) && !name.startsWith("preset_"));
  $("texts").replaceChildren(...names.map((name) => {
    const field = element("textarea", { value: words[name], rows: words[name].length > 90 ? 3 : 1 });
    field.dataset.text = name;
    return element("label", {}, `${name.replaceAll("_", " ")} `, field);
  }));
}

/** The texts that differ from the usual ones of the language they were shown in. */
function changed() {
  const all = [...$("texts").querySelectorAll("textarea")].map((field) => [field.dataset.text, field.value.trim()]);
  const own = [[instruction(), form.elements.instruction.value.trim()], ...all];
  const old = Object.values(known.usual);
  return Object.fromEntries(own.filter(([name, text]) => text && !old.some((words) => words[name] === text)));
}

function add(part, values) {
  const row = $("question").content.firstElementChild.cloneNode(true);
  const kind = row.querySelector("[data-field=kind]");
  kind.append(...Object.entries(known.kinds).map(([value, word]) => element("option", { value }, word)));
  for (const field of row.querySelectorAll("[data-field]")) {
    const value = values[field.dataset.field];
    if (value === undefined) continue;
    if (field.type === "checkbox") field.checked = value;
    else field.value = Array.isArray(value) ? value.join("\n") : value;
  }
  $(part).append(row);
  showKind(row);
  return row;
}

function showKind(row) {
  const kind = row.querySelector("[data-field=kind]").value;
  for (const one of ["number", "choice"]) for (const field of row.querySelectorAll(`.of-${one}`)) field.hidden = kind !== one;
}

function act(event) {
  const button = event.target.closest("button");
  if (!button || button.type !== "button") return;
  const row = button.closest(".question"), { add: part, preset, to } = button.dataset;
  if (part) add(part, { kind: "text" }).querySelector("input").focus();
  if (preset) add(to, presets()[preset]);
  if (button.dataset.act === "remove") row.remove();
  if (button.dataset.act === "up") row.previousElementSibling?.before(row);
  if (button.dataset.act === "down") row.nextElementSibling?.after(row);
}

function presets() {
  const words = usual();
  return {
    age: { key: "age", kind: "number", text: words.preset_age, least: 18, most: 120 },
    vision: { key: "vision", kind: "choice", text: words.preset_vision, options: words.preset_vision_options.split("\n") },
    remarks: { key: "remarks", kind: "long", text: words.preset_remarks, required: false },
  };
}

function questions(part) {
  return [...$(part).children].map((row) => {
    const field = (name) => row.querySelector(`[data-field=${name}]`);
    return {
      key: field("key").value.trim(), kind: field("kind").value, text: field("text").value, required: field("required").checked,
      options: field("options").value.split("\n").map((one) => one.trim()).filter(Boolean),
      least: Number(field("least").value), most: Number(field("most").value),
    };
  });
}

async function save(event) {
  event.preventDefault();
  const fields = form.elements, log = $("procedure-log");
  const procedure = { language: fields.language.value, texts: changed() };
  for (const name of TEXTS) procedure[name] = fields[name].value;
  for (const name of NUMBERS) procedure[name] = Number(fields[name].value);
  for (const name of FLAGS) procedure[name] = fields[name]?.checked ?? false;
  for (const part of parts) procedure[part] = questions(part);
  log.textContent = "Saving…";
  try {
    await send(`${setup.path}/procedure`, { json: { procedure, practice: Number(fields.practice.value), checks: Number(fields.checks.value) } });
    log.textContent = "Saved.";
  } catch (failure) { log.textContent = failure.message; }
}

start().catch((error) => { $("procedure-log").textContent = error.message; });
