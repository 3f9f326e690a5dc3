// Quotes: a thought, another one at every start.

export const manifest = {
  scope: "labs",
  name: "quotes",
  version: "0.9.0",
  displayName: "Quotes",
  sdkVersion: ">=1.0.0-rc.1 <2",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  .widget { display: grid; place-content: center; }
  blockquote { margin: 0; font: italic 1.2rem/1.5 Georgia, serif; text-align: center; }
`;

const QUOTES = [
  "A short list that gets done beats a long one that gets longer.",
  "Most hurry is a late decision.",
  "Name a thing well and half of its manual is written.",
];

export function mount(element) {
  const root = stage(element, STYLE);
  const quote = QUOTES[Math.floor(Math.random() * QUOTES.length)];
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Quotes" },
    el("blockquote", {}, quote)));

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
