// Suggestions below a search box: the combobox pattern of ARIA. Without this, it is a plain form.
export function suggest(form) {
  const box = form.querySelector("input[type=search]");
  const [panel, status] = ["div", "p"].map((tag) => document.createElement(tag));
  let [asked, waiting, active] = [null, 0, -1];
  panel.className = "suggestions";
  panel.id = `${box.id}-suggestions`;
  panel.hidden = true;
  status.className = "unseen";
  status.setAttribute("role", "status");
  box.closest(".box, form").append(panel);
  form.append(status);
  const describe = (attributes) => Object.entries(attributes).forEach(([name, value]) => box.setAttribute(name, value));
  describe({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-haspopup": "listbox" });
  const options = () => [...panel.querySelectorAll("[role=option]")];
  const choose = (number) => {
    active = number;
    options().forEach((it, place) => it.setAttribute("aria-selected", String(place === number)));
    const chosen = options()[number];
    if (chosen) describe({ "aria-activedescendant": chosen.id });
    else box.removeAttribute("aria-activedescendant");
    chosen?.scrollIntoView({ block: "nearest" });
  };
  const close = () => {
    clearTimeout(waiting);
    asked?.abort();
    panel.hidden = true;
    describe({ "aria-expanded": "false" });
    choose(-1);
  };
  const show = async () => {
    asked?.abort();
    const { signal } = (asked = new AbortController());
    try {
      const query = new URLSearchParams({ q: box.value.trim() });
      const response = await fetch(`${form.dataset.suggest}?${query}`, { signal });
      if (!response.ok) return close();
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (signal.aborted) return; // After everything was received.
      const list = page.querySelector("[role=listbox]");
      if (!list.querySelector("[role=option]") || document.activeElement !== box) return close();
      list.id = `${panel.id}-list`;
      panel.replaceChildren(document.adoptNode(list));
      options().forEach((it, place) => (it.id = `${panel.id}-${place}`));
      panel.hidden = false;
      status.textContent = list.dataset.status;
      choose(-1);
      describe({ "aria-expanded": "true", "aria-controls": list.id });
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  };
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    if (!box.value.trim()) return close();
    waiting = setTimeout(show, 120);
  });
  box.addEventListener("keydown", (event) => {
    const { key, isComposing } = event;
    if (isComposing) return;
    const count = options().length;
    if (key === "Escape" && !panel.hidden) close();
    else if (key === "Enter" && !panel.hidden && active >= 0) options()[active].click();
    else if (key === "ArrowDown" && panel.hidden && box.value.trim()) show();
    // One place before the first option is the box itself.
    else if (key === "ArrowDown" && !panel.hidden) choose(active + 1 < count ? active + 1 : -1);
    else if (key === "ArrowUp" && !panel.hidden) choose(active < 0 ? count - 1 : active - 1);
    else return;
    event.preventDefault();
  });
  box.addEventListener("blur", close);
  // The box keeps the focus, so that a click is not the end of the list before it is a click.
  panel.addEventListener("mousedown", (event) => event.preventDefault());
  form.addEventListener("submit", close);
  // What was typed while this was loaded.
  if (document.activeElement === box && box.value.trim() && box.value !== box.defaultValue) show();
}
