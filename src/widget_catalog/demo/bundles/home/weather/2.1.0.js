// Météo: the weather now and in the next days, drawn.
//
// config: { unit: "C" or "F", feedUrl, refreshMinutes }
// data.weather: { place, temperature, condition, wind, days: [{ date, condition, low, high }] }
// A feedUrl is asked for the same shape, through the host (permission "network").

export const manifest = {
  scope: "home",
  name: "weather",
  version: "2.1.0",
  displayName: "Météo",
  sdkVersion: "^2.1.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#1f66b5, #8fc3ff)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: flex; flex-direction: column; gap: 0.6rem;
    background: linear-gradient(light-dark(#e3f0ff, #1c2c46), transparent 75%); }
  .now { display: grid; grid-template-columns: 1fr auto; align-items: center; }
  h2, p { margin: 0; font-size: 0.95rem; }
  .figure { font-size: clamp(2rem, 17cqmin, 4rem); font-weight: 300; line-height: 1.1; }
  .now svg { width: clamp(3.5rem, 30cqmin, 7.5rem); }
  svg { width: 1.6rem; aspect-ratio: 1; }
  path { stroke-width: 3; stroke-linecap: round; }
  .sun { fill: #f5a623; stroke: #f5a623; }
  .cloud { fill: light-dark(#a9b9cc, #c6d0de); }
  .drops, .flakes, .haze { stroke: light-dark(#2f7fd1, #7db8f5); }
  .bolt { stroke: #f5a623; }
  ul { display: grid; margin: auto 0 0; padding: 0; list-style: none; }
  li { display: grid; grid-template-columns: 2.6rem 1.6rem 2.2rem 1fr 2.2rem; gap: 0.5rem;
    align-items: center; padding: 1cqb 0; text-align: right; }
  li > :first-child { text-align: left; }
  .bar { height: 0.35rem; border-radius: 1rem; background: var(--line); }
  .bar i { display: block; height: 100%; border-radius: inherit;
    background: linear-gradient(90deg, #5aa9f0, #f5a623); }
  @container (max-height: 15rem) { ul { display: none; } .widget { justify-content: center; } }
`;

// What each sky is drawn with.
const SKIES = {
  clear: ["sun"], fair: ["sun", "cloud"], cloudy: ["cloud"], fog: ["cloud", "haze"],
  rain: ["cloud", "drops"], snow: ["cloud", "flakes"], storm: ["cloud", "bolt"],
};
const SHAPES = {
  sun: "M26 20a9 9 0 1 1-18 0a9 9 0 1 1 18 0M17 3v3M17 34v3M0 20h3M31 20h3M5 8l2 2M27 30l2 2"
    + "M5 32l2-2M27 10l2-2",
  cloud: "M14 38a8 8 0 0 1 1-16 11 11 0 0 1 21-1 9 9 0 0 1 1 17z",
  drops: "M17 42l-2 5M26 42l-2 5M35 42l-2 5",
  flakes: "M16 43h0M25 47h0M34 43h0",
  haze: "M8 43h30M13 48h26",
  bolt: "M26 38l-6 5h6l-4 6",
};

export function mount(element, context = {}) {
  const { locale, data = {} } = context;
  let config = {};
  let weather = data.weather;
  let timer;
  const root = stage(element, STYLE);
  const widget = el("div", { class: "widget", role: "group" });
  root.append(widget);

  function degrees(celsius) {
    const value = config.unit === "F" ? celsius * 1.8 + 32 : celsius;
    return `${Math.round(value)}°`;
  }

  function draw() {
    widget.setAttribute("aria-label", weather ? `Weather in ${weather.place}` : "Weather");
    if (!weather) {
      widget.replaceChildren("No weather offered yet.");
      return;
    }
    const { place, temperature, condition, wind, days = [] } = weather;
    const low = Math.min(...days.map((day) => day.low));
    const span = Math.max(...days.map((day) => day.high)) - low || 1;
    widget.replaceChildren(
      el("div", { class: "now" },
        el("div", {},
          el("h2", {}, place),
          el("div", { class: "figure" }, degrees(temperature)),
          el("p", {}, wind ? `${condition} · wind ${wind} km/h` : condition)),
        sky(condition)),
      el("ul", {}, ...days.map((day) => {
        const fill = el("i");
        fill.style.marginLeft = `${(day.low - low) / span * 100}%`;
        fill.style.width = `${(day.high - day.low) / span * 100}%`;
        return el("li", {}, el("span", {}, weekday(day.date, locale)), sky(day.condition),
          el("span", {}, degrees(day.low)), el("span", { class: "bar" }, fill),
          el("span", {}, degrees(day.high)));
      })));
  }

  async function refresh() {
    weather = await context.fetchJson(config.feedUrl).catch(() => weather);
    if (root.host.isConnected) draw();
  }

  function update(next) {
    config = next;
    clearInterval(timer);
    if (config.feedUrl && context.fetchJson) {
      timer = setInterval(refresh, (config.refreshMinutes ?? 15) * 60_000);
      refresh();
    }
    draw();
  }

  update(context.config ?? {});

  return {
    update,
    unmount() {
      clearInterval(timer);
      root.host.remove();
    },
  };
}

function sky(condition) {
  const parts = SKIES[condition] ?? SKIES.fair;
  return svg("svg", { viewBox: "-2 0 50 52", role: "img", "aria-label": condition, fill: "none" },
    ...parts.map((part) => svg("path", { class: part, d: SHAPES[part] })));
}

function weekday(date, locale) {
  return new Date(`${date}T12:00`).toLocaleDateString(locale, { weekday: "short" });
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
