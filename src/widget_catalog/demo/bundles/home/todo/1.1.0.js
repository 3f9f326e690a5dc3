// To-do list: add and tick off. Items last until the dashboard is left.
//
// config: { items: ["Water the plants", ...] }

export const manifest = {
  scope: "home",
  name: "todo",
  version: "1.1.0",
  displayName: "To-do list",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#b3478f, #f0a3d6)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: grid; grid-template-rows: auto 1fr; gap: 0.6rem; }
  ul { display: grid; align-content: start; gap: 0.4rem; margin: 0; padding: 0; list-style: none; }
  form { display: grid; grid-template-columns: 1fr auto; gap: 0.4rem; }
  input { accent-color: var(--accent); font: inherit; min-width: 0; }
  label { display: flex; gap: 0.5rem; }
  label:has(:checked) { color: var(--muted); text-decoration: line-through; }
  button { padding: 0.25rem 0.7rem; border: 1px solid var(--line); border-radius: 0.5rem;
    background: none; color: inherit; font: inherit; cursor: pointer; }
  button:hover { border-color: var(--accent); }
  button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

const ITEMS = ["Water the plants", "Bring out the paper", "Call the dentist"];

export function mount(element, { config = {} } = {}) {
  const root = stage(element, STYLE);
  const list = el("ul");
  const field = el("input", { "aria-label": "New item", placeholder: "What is to do?" });
  const form = el("form", {}, field, el("button", {}, "Add"));
  root.append(el("div", { class: "widget", role: "group", "aria-label": "To-do list" },
    form, list));

  const add = (text) => list.append(
    el("li", {}, el("label", {}, el("input", { type: "checkbox" }), text)));

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim() !== "") add(field.value.trim());
    field.value = "";
  });
  (config.items ?? ITEMS).forEach(add);

  return { unmount: () => root.host.remove() };
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
