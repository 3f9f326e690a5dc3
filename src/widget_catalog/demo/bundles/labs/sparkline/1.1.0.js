// Sparkline: the values of the settings as an area, with lowest, highest and latest.
//
// config: { label, unit, values: [number, ...] }

export const manifest = {
  scope: "labs",
  name: "sparkline",
  version: "1.1.0",
  displayName: "Sparkline",
  sdkVersion: "^1.2.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#5b3fc4, #b7a5ff)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: grid; grid-template-rows: auto 1fr auto; gap: 0.4rem; }
  header { display: flex; justify-content: space-between; align-items: baseline; }
  strong { font-size: 1.4rem; font-variant-numeric: tabular-nums; }
  svg { width: 100%; height: 100%; min-height: 0; }
  .area { fill: var(--accent); opacity: 0.18; }
  .line { fill: none; stroke: var(--accent); stroke-width: 2; vector-effect: non-scaling-stroke; }
  footer { display: flex; justify-content: space-between; color: var(--muted); font-size: 0.8rem; }
`;

const VALUES = [3, 4, 4, 6, 5, 7, 9, 8, 10, 12];

export function mount(element, context = {}) {
  const { locale } = context;
  const root = stage(element, STYLE);
  const widget = el("div", { class: "widget", role: "group" });
  root.append(widget);

  function update({ label = "Visits", unit = "", values = VALUES }) {
    const low = Math.min(...values);
    const high = Math.max(...values);
    const text = (value) => `${value.toLocaleString(locale)} ${unit}`.trim();
    const line = values.map((value, index) =>
      `${index / (values.length - 1 || 1) * 100} ${96 - (value - low) / (high - low || 1) * 92}`);
    widget.setAttribute("aria-label", `Sparkline: ${label}`);
    widget.replaceChildren(
      el("header", {}, el("span", {}, label), el("strong", {}, text(values.at(-1)))),
      svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" },
        svg("path", { class: "area", d: `M0 100L${line.join("L")}L100 100z` }),
        svg("path", { class: "line", d: `M${line.join("L")}` })),
      el("footer", {}, el("span", {}, `low ${text(low)}`), el("span", {}, `high ${text(high)}`)));
  }

  update(context.config ?? {});

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

const SVG = "http://www.w3.org/2000/svg";
const el = (tag, ...rest) => dress(document.createElement(tag), ...rest);
const svg = (tag, ...rest) => dress(document.createElementNS(SVG, tag), ...rest);

/** Gives a node attributes and children; these are nodes or plain text, never markup. */
function dress(node, attributes = {}, ...children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
