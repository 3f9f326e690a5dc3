// Sensor: one reading on a scale.
//
// config: { label, value, unit, min, max }

export const manifest = {
  scope: "home",
  name: "sensors",
  version: "1.0.0",
  displayName: "Sensor",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  .widget { display: grid; align-content: center; gap: 0.5rem; }
  strong { font-size: min(20cqi, 40cqb); font-weight: 400; line-height: 1; }
  meter { width: 100%; }
`;

export function mount(element, { config = {} } = {}) {
  const { label = "Living room", value = 21.4, unit = "°C", min = 0, max = 40 } = config;
  const root = stage(element, STYLE);
  root.append(el("div", { class: "widget", role: "group", "aria-label": `Sensor: ${label}` },
    el("span", {}, label),
    el("strong", {}, `${value} ${unit}`),
    el("meter", { min, max, value, "aria-label": label })));

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
