// Sensors: the host's readings as bars.
//
// data.sensors: [{ id, label, value, unit, min, max }]

export const manifest = {
  scope: "home",
  name: "sensors",
  version: "2.0.0",
  displayName: "Sensors",
  sdkVersion: "^2.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#0b7a75, #5fd4cc)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  ul { display: grid; gap: 0.75rem; margin: 0; padding: 0; list-style: none; }
  .line { display: flex; justify-content: space-between; }
  .bar { height: 0.5rem; border-radius: 1rem; background: var(--line); overflow: hidden; }
  .fill { height: 100%; background: var(--accent); }
`;

export function mount(element, { locale, data = {} } = {}) {
  const root = stage(element, STYLE);
  const sensors = data.sensors ?? [];
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Sensors" },
    sensors.length === 0
      ? el("p", {}, "No sensors yet: the host offers none.")
      : el("ul", {}, ...sensors.map((sensor) => row(sensor, locale)))));

  return { unmount: () => root.host.remove() };
}

function row({ label, value, unit, min, max }, locale) {
  const reading = `${value.toLocaleString(locale)} ${unit}`;
  const fill = el("div", { class: "fill" });
  fill.style.width = `${Math.max(0, Math.min(1, (value - min) / (max - min))) * 100}%`;
  return el("li", {},
    el("div", { class: "line" }, el("span", {}, label), el("span", {}, reading)),
    el("div", { class: "bar", role: "meter", "aria-label": label, "aria-valuetext": reading,
      "aria-valuenow": value, "aria-valuemin": min, "aria-valuemax": max }, fill));
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
