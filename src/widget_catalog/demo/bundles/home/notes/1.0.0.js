// Notes: a text from the settings, one paragraph a line.
//
// config: { text }

export const manifest = {
  scope: "home",
  name: "notes",
  version: "1.0.0",
  displayName: "Notes",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  .widget { background: light-dark(#fff6c9, #3a3520); }
  p { margin: 0 0 0.5rem; overflow-wrap: anywhere; }
`;

const WELCOME = "Write something in the settings.\nEvery line becomes a paragraph.";

export function mount(element, { config = {} } = {}) {
  const root = stage(element, STYLE);
  const lines = (config.text || WELCOME).split("\n").filter((line) => line.trim() !== "");
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Notes" },
    ...lines.map((line) => el("p", {}, line))));

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
