// Lists that are searched by name and filtered by state; what was chosen stays in the address.

const chosen = new URLSearchParams(location.hash.slice(1));

for (const root of document.querySelectorAll("[data-finder]")) {
  const field = root.querySelector("input"), buttons = [...root.querySelectorAll("[data-show]")], told = root.querySelector("[data-found]");
  let state = buttons.some((one) => one.dataset.show === chosen.get("show") && !one.disabled) ? chosen.get("show") : "";
  field.value = chosen.get("find") ?? "";

  /** Show what is wanted; the list is looked up anew, because uploads replace it. */
  const find = () => {
    const rows = document.getElementById(root.dataset.finder).children, words = field.value.trim().toLowerCase().split(/\s+/);
    let count = 0;
    for (const row of rows) {
      const isMeant = (!state || row.dataset.state === state) && words.every((word) => row.dataset.name.toLowerCase().includes(word));
      row.hidden = !isMeant;
      count += isMeant;
    }
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.show === state));
    told.textContent = count === rows.length ? "" : `${count} of ${rows.length} shown`;
    const kept = new URLSearchParams(Object.entries({ find: field.value.trim(), show: state }).filter(([, value]) => value));
    history.replaceState(null, "", `${location.pathname}${location.search}${kept.size ? `#${kept}` : ""}`);
  };
  field.addEventListener("input", find);
  for (const button of buttons) button.addEventListener("click", () => { state = button.dataset.show; find(); });
  if (field.value || state) find();
}
