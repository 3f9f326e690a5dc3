// To-do list: kept by the host (permission "storage"), with what is left to do.
//
// config: { title, items: [text, ...] for the first start }

export const manifest = {
  scope: "home",
  name: "todo",
  version: "2.0.0",
  displayName: "To-do list",
  sdkVersion: "^2.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#a53a82, #f0a3d6)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: flex; flex-direction: column; gap: 0.6rem; }
  header { display: flex; align-items: baseline; justify-content: space-between; gap: 0.5rem; }
  h2 { margin: 0; font-size: 1.05rem; }
  .left { color: var(--muted); font-size: 0.8rem; }
  ul { flex: 1; margin: 0; padding: 0; list-style: none; overflow: auto; min-height: 2rem; }
  li { display: flex; align-items: center; gap: 0.3rem; padding: 0.1rem 0;
    border-bottom: 1px solid var(--line); }
  label { flex: 1; display: flex; gap: 0.6rem; padding: 0.3rem 0; overflow-wrap: anywhere; }
  label:has(:checked) { color: var(--muted); text-decoration: line-through; }
  input { accent-color: var(--accent); font: inherit; }
  [type="checkbox"] { flex: none; width: 1.1rem; height: 1.1rem; margin: 0.15rem 0; }
  form { display: grid; grid-template-columns: 1fr auto; gap: 0.4rem; }
  form input { min-width: 0; color: inherit; padding: 0.35rem 0.6rem; border-radius: 0.5rem;
    border: 1px solid var(--line); background: light-dark(#f8f9fb, #242a37); }
  button { padding: 0.25rem 0.7rem; border: 1px solid var(--line); border-radius: 0.5rem;
    background: none; color: inherit; font: inherit; cursor: pointer; }
  button:hover { border-color: var(--accent); }
  button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  li button { border: 0; padding: 0 0.4rem; color: var(--muted); font-size: 1.1rem; }
  .clear { align-self: start; font-size: 0.8rem; }
  .clear[hidden] { display: none; }
`;

const ITEMS = ["Water the plants", "Bring out the paper", "Call the dentist"];

export function mount(element, context = {}) {
  const { storage } = context;
  const fresh = (text) => ({ text, isDone: false });
  let items = storage?.get("items") ?? (context.config?.items ?? ITEMS).map(fresh);
  const root = stage(element, STYLE);
  const title = el("h2", { id: "title" });
  const left = el("span", { class: "left", role: "status" });
  const list = el("ul");
  const field = el("input", { "aria-label": "New item", placeholder: "New item",
    autocomplete: "off" });
  const form = el("form", {}, field, el("button", {}, "Add"));
  const clear = el("button", { type: "button", class: "clear" }, "Remove what is done");
  root.append(el("div", { class: "widget", role: "group", "aria-labelledby": "title" },
    el("header", {}, title, left), list, clear, form));

  function showCount() {
    const open = items.filter((item) => !item.isDone).length;
    left.textContent = open === 0 ? "all done" : `${open} of ${items.length} left`;
    clear.hidden = open === items.length;
  }

  function change(next) {
    items = next;
    storage?.set("items", items);
    draw();
  }

  function row(item) {
    const box = el("input", { type: "checkbox" });
    box.checked = item.isDone;
    box.addEventListener("change", () => {
      // The row stays in place, so the keyboard focus does too.
      item.isDone = box.checked;
      storage?.set("items", items);
      showCount();
    });
    const remove = el("button", { type: "button", "aria-label": `Remove ${item.text}` }, "×");
    remove.addEventListener("click", () => {
      change(items.filter((other) => other !== item));
      field.focus();
    });
    return el("li", {}, el("label", {}, box, el("span", {}, item.text)), remove);
  }

  function draw() {
    list.replaceChildren(...items.map(row));
    showCount();
  }

  function update(config) {
    title.textContent = config.title || "To do";
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (text === "") return;
    change([...items, fresh(text)]);
    field.value = "";
    list.lastElementChild.scrollIntoView({ block: "nearest" });
  });
  clear.addEventListener("click", () => {
    change(items.filter((item) => !item.isDone));
    field.focus();
  });
  update(context.config ?? {});
  draw();

  return { update, unmount: () => root.host.remove() };
}

/** Puts a shadow root into the element, so that no style leaks in or out. */
function stage(element, css) {
  const root = element.appendChild(document.createElement("div")).attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [sheet];
  return root;
}

/** An element with attributes; children are nodes or plain text, never markup. */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
