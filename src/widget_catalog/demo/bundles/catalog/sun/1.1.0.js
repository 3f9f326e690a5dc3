// Sunrise & sunset: the sun's way over today's sky, worked out on the spot.
//
// config: { latitude, longitude, timeZone, place }
// Without coordinates the host is asked for its position (permission "geolocation").

export const manifest = {
  scope: "catalog",
  name: "sun",
  version: "1.1.0",
  displayName: "Sunrise & sunset",
  sdkVersion: "^1.2.0 || ^2.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#9a5b00, #f6b94a)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: flex; flex-direction: column; justify-content: center; gap: 0.3rem; }
  h2 { margin: 0; font-size: 0.9rem; text-align: center; }
  svg { min-height: 0; max-height: 60cqb; overflow: visible; }
  .sky { fill: light-dark(#fdf1d6, #33302a); }
  .way { fill: none; stroke: var(--accent); stroke-width: 1.5; stroke-dasharray: 2 3; }
  .ground { stroke: var(--line); stroke-width: 1.5; }
  .sun { fill: #f3a712; }
  .below { opacity: 0.35; }
  dl { display: flex; justify-content: space-between; margin: 0; white-space: nowrap; }
  dt { color: var(--muted); font-size: 0.8rem; }
  dd { margin: 0; font-size: clamp(0.8rem, 5cqi, 1.375rem); font-weight: 600; line-height: 1.1; }
  .middle { text-align: center; }
  .end { text-align: right; }
`;

const RAD = Math.PI / 180;
const DAY_MS = 86_400_000;
const GREENWICH = { latitude: 51.48, longitude: 0, place: "Greenwich" };

export function mount(element, context = {}) {
  const { locale, now = () => new Date() } = context;
  let config = context.config ?? {};
  let position = GREENWICH;
  let mounted = true;
  const root = stage(element, STYLE);
  const widget = el("div", { class: "widget", role: "group", "aria-label": "Sunrise and sunset" });
  root.append(widget);

  const clock = (time) => time.toLocaleTimeString(locale, {
    hour: "2-digit", minute: "2-digit", timeZone: config.timeZone,
  });

  function draw() {
    const { latitude, longitude, place } = { ...position, ...config };
    const moment = now();
    const times = sunTimes(moment, latitude, longitude);
    const title = el("h2", {}, place ?? `${latitude.toFixed(1)}°, ${longitude.toFixed(1)}°`);
    if (times === null) {
      widget.replaceChildren(title, el("p", {}, "The sun does not cross the horizon today."));
      return;
    }
    const { rise, set } = times;
    const minutes = Math.round((set - rise) / 60_000);
    widget.replaceChildren(title, arc((moment - rise) / (set - rise)), el("dl", {},
      pair("Sunrise", clock(rise)),
      pair("Daylight", `${Math.floor(minutes / 60)} h ${minutes % 60}`, "middle"),
      pair("Sunset", clock(set), "end")));
  }

  async function locate() {
    if (config.latitude !== undefined || !context.locate) return;
    const found = await context.locate().catch(() => null);
    if (!mounted || found === null) return;
    position = found;
    draw();
  }

  function update(next) {
    config = next;
    draw();
    locate();
  }

  update(config);
  const timer = setInterval(draw, 60_000);

  return {
    update,
    unmount() {
      mounted = false;
      clearInterval(timer);
      root.host.remove();
    },
  };
}

const pair = (term, value, look = "") =>
  el("div", { class: look }, el("dt", {}, term), el("dd", {}, value));

/** The day's arc; progress runs from 0 at sunrise to 1 at sunset. */
function arc(progress) {
  const angle = Math.PI * (1 - Math.min(1.02, Math.max(-0.02, progress)));
  const isUp = progress >= 0 && progress <= 1;
  return svg("svg", { viewBox: "-60 -54 120 66", "aria-hidden": "true" },
    svg("path", { class: "sky", d: "M-50 0a50 50 0 0 1 100 0z" }),
    svg("path", { class: "way", d: "M-50 0a50 50 0 0 1 100 0" }),
    svg("line", { class: "ground", x1: -60, x2: 60 }),
    svg("circle", { class: isUp ? "sun" : "sun below", r: 6,
      cx: 50 * Math.cos(angle), cy: -50 * Math.sin(angle) }));
}

/** The sunrise equation, good to a minute or two; null on polar days and nights. */
function sunTimes(date, latitude, longitude) {
  const noon = Date.UTC(date.getFullYear(), date.getMonth(), date.getDate(), 12);
  const days = noon / DAY_MS - 10957.5 - longitude / 360;
  const anomaly = (357.5291 + 0.98560028 * days) * RAD;
  const centre = 1.9148 * Math.sin(anomaly) + 0.02 * Math.sin(2 * anomaly);
  const ecliptic = anomaly + (centre + 282.9372) * RAD;
  const transit = days + 0.0053 * Math.sin(anomaly) - 0.0069 * Math.sin(2 * ecliptic);
  const declination = Math.asin(Math.sin(ecliptic) * Math.sin(23.44 * RAD));
  const cosine = (Math.sin(-0.833 * RAD) - Math.sin(latitude * RAD) * Math.sin(declination))
    / (Math.cos(latitude * RAD) * Math.cos(declination));
  if (Math.abs(cosine) > 1) return null;
  const half = Math.acos(cosine) / RAD / 360;
  const toDate = (day) => new Date((day + 10957.5) * DAY_MS);
  return { rise: toDate(transit - half), set: toDate(transit + half) };
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
