// Sensors: live gauges with their direction, and a warning when a limit is passed.
//
// config: { only: ["id", ...] }
// data.sensors: [{ id, label, value, unit, min, max, warnAbove?, warnBelow? }]

export const manifest = {
  scope: "home",
  name: "sensors",
  version: "2.1.0",
  displayName: "Sensors",
  sdkVersion: "~2.1.0",
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
  .widget { display: grid; align-items: center; gap: 0.5rem;
    grid-template-columns: repeat(auto-fit, minmax(min(max(5rem, 30cqi), 100%), 1fr)); }
  figure { margin: 0; display: grid; justify-items: center; min-width: 0; text-align: center; }
  svg { width: min(100%, 9rem, 34cqb); }
  figcaption span { display: block; }
  path { fill: none; stroke: var(--line); stroke-width: 9; stroke-linecap: round; }
  .fill { stroke: var(--accent); transition: stroke-dasharray 0.6s; }
  .value { fill: currentColor; font-size: 19px; font-weight: 600; text-anchor: middle; }
  .unit { fill: var(--muted); font-size: 10px; text-anchor: middle; }
  .state { color: var(--muted); font-size: 0.8rem; }
  .warn { --accent: light-dark(#c0392b, #ff8f82); }
  .warn .state { color: var(--accent); font-weight: 600; }
  @container (min-aspect-ratio: 2/1) {
    .widget { grid-template-columns: repeat(auto-fit, minmax(6rem, 1fr)); }
    svg { width: min(100%, 58cqb); }
  }
  @container (max-height: 15rem) {
    .widget { gap: 0; }
    figcaption, .state { font-size: 0.7rem; line-height: 1.2; }
    figure:not(.warn) .state { display: none; }
  }
  @media (prefers-reduced-motion: reduce) { .fill { transition: none; } }
`;

// Three quarters of a circle with radius 40, open at the bottom.
const ARC = "M-28.28 28.28A40 40 0 1 1 28.28 28.28";

export function mount(element, context = {}) {
  const { locale, data = {} } = context;
  let config = context.config ?? {};
  let readings = data.sensors ?? [];
  const gauges = new Map();
  const root = stage(element, STYLE);
  const widget = el("div", { class: "widget", role: "group", "aria-label": "Sensors" });
  root.append(widget);

  function draw() {
    const shown = readings.filter(({ id }) => !config.only || config.only.includes(id));
    widget.replaceChildren(...shown.map((reading) => {
      if (!gauges.has(reading.id)) gauges.set(reading.id, gauge(locale));
      return gauges.get(reading.id)(reading);
    }));
    if (shown.length === 0) widget.append(el("p", {}, "No sensors yet: the host offers none."));
  }

  draw();
  const stop = context.watch?.("sensors", (next) => {
    readings = next;
    draw();
  });

  return {
    update(next) {
      config = next;
      draw();
    },
    unmount() {
      stop?.();
      root.host.remove();
    },
  };
}

/** A gauge keeps its element, so that its needle can move: call it with each reading. */
function gauge(locale) {
  const fill = svg("path", { class: "fill", d: ARC, pathLength: 100 });
  const value = svg("text", { class: "value", y: 5 });
  const unit = svg("text", { class: "unit", y: 20 });
  const label = el("span");
  const state = el("span", { class: "state" });
  const dial = svg("svg", { viewBox: "-46 -46 92 82", role: "meter" },
    svg("path", { d: ARC }), fill, value, unit);
  const figure = el("figure", {}, dial, el("figcaption", {}, label, state));
  let last;

  return (reading) => {
    const { min, max } = reading;
    const share = Math.max(0, Math.min(1, (reading.value - min) / (max - min)));
    const warning = warningOf(reading);
    fill.setAttribute("stroke-dasharray", `${share * 100} 200`);
    value.textContent = reading.value.toLocaleString(locale, { maximumFractionDigits: 1 });
    unit.textContent = reading.unit;
    label.textContent = reading.label;
    state.textContent = warning ?? trend(reading.value, last);
    figure.className = warning ? "warn" : "";
    const spoken = { label: reading.label, valuenow: reading.value, valuemin: min, valuemax: max,
      valuetext: `${value.textContent} ${reading.unit}` };
    for (const [key, text] of Object.entries(spoken)) dial.setAttribute(`aria-${key}`, text);
    last = reading.value;
    return figure;
  };
}

function warningOf({ value, warnAbove = Infinity, warnBelow = -Infinity }) {
  if (value > warnAbove) return "▲ too high";
  return value < warnBelow ? "▼ too low" : null;
}

function trend(value, last = value) {
  if (value === last) return "steady";
  return value > last ? "rising" : "falling";
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
