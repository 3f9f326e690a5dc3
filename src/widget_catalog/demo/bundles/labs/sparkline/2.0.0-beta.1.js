// Sparkline: live series of the host as a line or as bars, to be read point by point.
//
// config: { series: "id", kind: "line" | "bars" }
// data.series: [{ id, label, unit, points: [{ at, value }, ...] }]

export const manifest = {
  scope: "labs",
  name: "sparkline",
  version: "2.0.0-beta.1",
  displayName: "Sparkline",
  sdkVersion: "^2.0.0-beta.1",
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
  .widget { display: grid; grid-template-rows: auto 1fr; gap: 0.5rem; }
  header { display: grid; grid-template-columns: 1fr auto; align-items: baseline; }
  h2 { margin: 0; font-size: 1rem; font-weight: 400; }
  output { grid-row: span 2; font-size: clamp(1.2rem, 10cqmin, 2.2rem); font-weight: 700;
    font-variant-numeric: tabular-nums; }
  .when { color: var(--muted); font-size: 0.8rem; }
  .chart { position: relative; min-height: 0; }
  .chart > * { position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; }
  svg { overflow: visible; border-radius: 0.3rem; }
  .area { fill: var(--accent); opacity: 0.16; }
  .line { fill: none; stroke: var(--accent); stroke-width: 2.5; stroke-linejoin: round; }
  .bar { fill: var(--accent); opacity: 0.45; }
  .bar.chosen { opacity: 1; }
  .cursor { stroke: currentColor; stroke-dasharray: 2 3; }
  path, line { vector-effect: non-scaling-stroke; }
  input { z-index: 1; opacity: 0; cursor: crosshair; }
  input:focus-visible + svg { outline: 2px solid var(--accent); outline-offset: 4px; }
`;

export function mount(element, context = {}) {
  const { locale, data = {} } = context;
  let config = context.config ?? {};
  let all = data.series ?? [];
  // The slider over the chart makes every point reachable by pointer and by keyboard.
  const slider = el("input", { type: "range", min: 0, step: 1, "aria-label": "Point in time" });
  const chart = svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none",
    "aria-hidden": "true" });
  const title = el("h2");
  const figure = el("output");
  const when = el("span", { class: "when" });
  const root = stage(element, STYLE);
  const widget = el("div", { class: "widget", role: "group" },
    el("header", {}, title, figure, when), el("div", { class: "chart" }, slider, chart));
  root.append(widget);
  let chosen = Infinity;

  function draw() {
    const series = all.find(({ id }) => id === config.series) ?? all[0];
    widget.setAttribute("aria-label", series ? `Chart: ${series.label}` : "Chart");
    title.textContent = series?.label ?? "No series yet: the host offers none.";
    slider.hidden = !series?.points.length;
    if (slider.hidden) {
      chart.replaceChildren();
      return;
    }
    const { points, unit = "" } = series;
    const index = Math.min(chosen, points.length - 1);
    slider.max = points.length - 1;
    slider.value = index;
    figure.textContent = `${points[index].value.toLocaleString(locale)} ${unit}`.trim();
    when.textContent = new Date(points[index].at).toLocaleString(locale, {
      weekday: "short", hour: "2-digit", minute: "2-digit",
    });
    slider.setAttribute("aria-valuetext", `${when.textContent}: ${figure.textContent}`);
    const values = points.map(({ value }) => value);
    chart.replaceChildren(...(config.kind === "bars" ? bars(values, index) : line(values, index)));
  }

  slider.addEventListener("input", () => {
    const last = Number(slider.max);
    // On the last point the chart follows new values again.
    chosen = Number(slider.value) === last ? Infinity : Number(slider.value);
    draw();
  });
  draw();
  const stop = context.watch?.("series", (next) => {
    all = next;
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

function line(values, index) {
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const step = 100 / (values.length - 1 || 1);
  const path = values.map((value, i) => `${i * step} ${94 - (value - low) / span * 88}`).join("L");
  return [
    svg("path", { class: "area", d: `M0 100L${path}L100 100z` }),
    svg("path", { class: "line", d: `M${path}` }),
    svg("line", { class: "cursor", x1: index * step, x2: index * step, y2: 100 }),
  ];
}

/** Bars start at zero, or their lengths would lie. */
function bars(values, index) {
  const low = Math.min(0, ...values);
  const scale = 100 / (Math.max(0, ...values) - low || 1);
  const width = 100 / values.length;
  return values.map((value, i) => svg("rect", {
    class: i === index ? "bar chosen" : "bar", x: i * width + width * 0.1, width: width * 0.8,
    y: 100 - (Math.max(0, value) - low) * scale, height: Math.abs(value) * scale,
  }));
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
