// World clock: places, how far their clocks are from yours, and whether it is day there.
//
// config: { zones: [{ label, timeZone }, ...], hour12 }

export const manifest = {
  scope: "catalog",
  name: "world-clock",
  version: "2.0.0",
  displayName: "World clock · 世界時計",
  sdkVersion: ">=1.2 <3",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#3b5bc4, #9db2ff)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(13rem, 100%), 1fr));
    gap: 0.35rem 1.75rem; margin: 0; padding: 0; list-style: none; }
  li { display: grid; grid-template-columns: auto 1fr auto; column-gap: 0.75rem;
    align-items: center; padding: 0.35rem 0; border-bottom: 1px solid var(--line); }
  .sky { grid-row: span 2; width: 1.6rem; aspect-ratio: 1; border-radius: 50%; }
  .day { background: #f4b63f; box-shadow: 0 0 0 4px light-dark(#fdf0d3, #4a3d1f); }
  .night { box-shadow: inset -0.5rem -0.15rem 0 light-dark(#4a5aa8, #b9c3f5); }
  .place { font-weight: 600; }
  small { grid-column: 2; color: var(--muted); }
  time { grid-column: 3; grid-row: 1 / span 2; font-size: 1.6rem;
    font-variant-numeric: tabular-nums; }
  @container (max-width: 15rem) { .sky { display: none; } time { font-size: 1.2rem; } }
`;

const ZONES = [
  { label: "San Francisco", timeZone: "America/Los_Angeles" },
  { label: "São Paulo", timeZone: "America/Sao_Paulo" },
  { label: "Zürich", timeZone: "Europe/Zurich" },
  { label: "Nairobi", timeZone: "Africa/Nairobi" },
  { label: "東京 Tokyo", timeZone: "Asia/Tokyo" },
];
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function mount(element, context = {}) {
  const { locale, now = () => new Date() } = context;
  let config = context.config ?? {};
  const root = stage(element, STYLE);
  const list = el("ul");
  root.append(el("div", { class: "widget", role: "group", "aria-label": "World clock" }, list));

  function row({ label, timeZone }, moment) {
    const there = wallTime(moment, timeZone);
    if (there === null) return el("li", {}, el("small", {}, `${label}: unknown time zone`));
    const hour = Math.floor((there % DAY_MS) / HOUR_MS);
    const sky = hour >= 7 && hour < 19 ? "day" : "night";
    return el("li", {},
      el("span", { class: `sky ${sky}`, "aria-hidden": "true" }),
      el("span", { class: "place" }, label),
      el("time", {}, moment.toLocaleTimeString(locale, {
        hour: "2-digit", minute: "2-digit", hour12: config.hour12, timeZone,
      })),
      el("small", {}, [sky, ...distance(there, wallTime(moment))].join(" · ")));
  }

  function tick() {
    const moment = now();
    list.replaceChildren(...(config.zones ?? ZONES).map((zone) => row(zone, moment)));
  }

  tick();
  const timer = setInterval(tick, 5_000);

  return {
    update(next) {
      config = next;
      tick();
    },
    unmount() {
      clearInterval(timer);
      root.host.remove();
    },
  };
}

/** The clock on the wall there as milliseconds, to compare; null for an unknown zone. */
function wallTime(moment, timeZone) {
  try {
    const text = moment.toLocaleString("sv-SE", { timeZone });
    return Date.parse(`${text.replace(" ", "T")}Z`);
  } catch {
    return null;
  }
}

/** Words for the difference between two wall times, e.g. ["tomorrow", "+9 h"]. */
function distance(there, here) {
  const days = Math.floor(there / DAY_MS) - Math.floor(here / DAY_MS);
  const hours = Math.round((there - here) / HOUR_MS * 4) / 4;
  const words = [];
  if (days !== 0) words.push(days > 0 ? "tomorrow" : "yesterday");
  words.push(hours === 0 ? "same time" : `${hours > 0 ? "+" : "−"}${Math.abs(hours)} h`);
  return words;
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
