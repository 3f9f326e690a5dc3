// To-do list: the items of the settings, to be ticked off.
//
// config: { items: ["Water the plants", ...] }

export const manifest = {
  scope: "home",
  name: "todo",
  version: "1.0.0",
  displayName: "To-do list",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  ul { display: grid; gap: 0.4rem; margin: 0; padding: 0; list-style: none; }
  label { display: flex; gap: 0.5rem; }
  label:has(:checked) { opacity: 0.7; text-decoration: line-through; }
`;

const ITEMS = ["Water the plants", "Bring out the paper", "Call the dentist"];

export function mount(element, { config = {} } = {}) {
  const root = stage(element, STYLE);
  const items = (config.items ?? ITEMS).map((text) =>
    el("li", {}, el("label", {}, el("input", { type: "checkbox" }), text)));
  root.append(el("div", { class: "widget", role: "group", "aria-label": "To-do list" },
    el("ul", {}, ...items)));

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
