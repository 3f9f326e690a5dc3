// Sparkline: a line through the values of the settings.
//
// config: { label, values: [number, ...] }

export const manifest = {
  scope: "labs",
  name: "sparkline",
  version: "1.0.0",
  displayName: "Sparkline",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  .widget { display: grid; grid-template-rows: auto 1fr; }
  svg { width: 100%; height: 100%; min-height: 0; padding: 2px 0; box-sizing: border-box; }
  polyline { fill: none; stroke: light-dark(#5b3fc4, #b7a5ff); stroke-width: 2;
    vector-effect: non-scaling-stroke; }
`;

const VALUES = [3, 4, 4, 6, 5, 7, 9, 8, 10, 12];

export function mount(element, { config = {} } = {}) {
  const { label = "Visits", values = VALUES } = config;
  const root = stage(element, STYLE);
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const points = values.map((value, index) =>
    `${index / (values.length - 1 || 1) * 100},${100 - (value - low) / span * 100}`);
  root.append(el("div", { class: "widget", role: "group", "aria-label": `Sparkline: ${label}` },
    el("span", {}, `${label}: ${values.at(-1)}`),
    svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("polyline", { points: points.join(" ") }))));

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

const SVG = "http://www.w3.org/2000/svg";
const el = (tag, ...rest) => dress(document.createElement(tag), ...rest);
const svg = (tag, ...rest) => dress(document.createElementNS(SVG, tag), ...rest);

/** Gives a node attributes and children; these are nodes or plain text, never markup. */
function dress(node, attributes = {}, ...children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
