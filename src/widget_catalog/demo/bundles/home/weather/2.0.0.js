// Météo: the weather the host offers, now and in the next days.
//
// config: { unit: "C" | "F" }
// data.weather: { place, temperature, condition, days: [{ date, condition, low, high }] }

export const manifest = {
  scope: "home",
  name: "weather",
  version: "2.0.0",
  displayName: "Météo",
  sdkVersion: "^2.0.0",
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
  .widget { display: flex; flex-direction: column; gap: 0.5rem; }
  h2 { margin: 0; font-size: 1rem; }
  .now { font-size: clamp(1.8rem, 16cqmin, 3.5rem); font-weight: 300; line-height: 1; }
  .sky { color: var(--muted); }
  ul { display: grid; gap: 0.3rem; margin: auto 0 0; padding: 0; list-style: none; }
  li { display: grid; grid-template-columns: 3.5rem 1fr auto; gap: 0.5rem; font-size: 0.9rem; }
  @container (max-height: 11rem) { ul { display: none; } }
`;

export function mount(element, context = {}) {
  const { locale, data = {} } = context;
  let unit = context.config?.unit ?? "C";
  const root = stage(element, STYLE);
  const widget = el("div", { class: "widget", role: "group" });
  root.append(widget);

  const degrees = (celsius) => `${Math.round(celsius)} °${unit}`;

  function draw() {
    const { weather } = data;
    widget.setAttribute("aria-label", weather ? `Weather in ${weather.place}` : "Weather");
    if (!weather) {
      widget.replaceChildren(el("p", {}, "No weather yet: the host offers none."));
      return;
    }
    widget.replaceChildren(
      el("h2", {}, weather.place),
      el("div", { class: "now" }, degrees(weather.temperature)),
      el("div", { class: "sky" }, weather.condition),
      el("ul", {}, ...weather.days.map((day) => el("li", {},
        el("span", {}, weekday(day.date, locale)),
        el("span", {}, day.condition),
        el("span", {}, `${degrees(day.low)} to ${degrees(day.high)}`)))));
  }

  draw();

  return {
    update(config) {
      unit = config.unit ?? "C";
      draw();
    },
    unmount: () => root.host.remove(),
  };
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

/** An element with attributes; children are nodes or plain text, never markup. */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
