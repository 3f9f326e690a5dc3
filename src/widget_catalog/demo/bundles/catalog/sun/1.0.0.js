// Sunrise & sunset: today's two times for a place on the map.
//
// config: { latitude, longitude, timeZone }

export const manifest = {
  scope: "catalog",
  name: "sun",
  version: "1.0.0",
  displayName: "Sunrise & sunset",
  sdkVersion: "1.x",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  .widget { display: grid; place-content: center; }
  dl { display: grid; grid-template-columns: auto auto; gap: 0.4rem 1.2rem; margin: 0; }
  dd { margin: 0; font-size: 1.4rem; font-weight: 600; line-height: 1; }
`;

const RAD = Math.PI / 180;
const DAY_MS = 86_400_000;
const GREENWICH = { latitude: 51.48, longitude: 0 };

export function mount(element, { config = {}, locale } = {}) {
  const { latitude, longitude, timeZone } = { ...GREENWICH, ...config };
  const root = stage(element, STYLE);
  const times = sunTimes(new Date(), latitude, longitude);
  const clock = (time) => time.toLocaleTimeString(locale, {
    hour: "2-digit", minute: "2-digit", timeZone,
  });
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Sunrise and sunset" },
    times === null
      ? "The sun does not cross the horizon today."
      : el("dl", {},
        el("dt", {}, "Sunrise"), el("dd", {}, clock(times.rise)),
        el("dt", {}, "Sunset"), el("dd", {}, clock(times.set)))));

  return { unmount: () => root.host.remove() };
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

/** An element with attributes; children are nodes or plain text, never markup. */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
