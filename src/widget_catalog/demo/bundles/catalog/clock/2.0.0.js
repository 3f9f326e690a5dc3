// Clock: an analogue face beside the figures, in any time zone.
//
// config: { face: "analogue" | "digital", seconds, hour12, timeZone, label }

export const manifest = {
  scope: "catalog",
  name: "clock",
  version: "2.0.0",
  displayName: "Clock",
  sdkVersion: "1.x || 2.x",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#c2353f, #ff8a8f)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: flex; align-items: center; justify-content: center; gap: 5cqmin;
    flex-direction: column; }
  .words { display: grid; justify-items: center; }
  svg { flex: 0 1 auto; min-height: 0; width: min(86cqi, 62cqb); aspect-ratio: 1; }
  time { font-size: clamp(1.1rem, 13cqmin, 4rem); font-weight: 600; line-height: 1.1;
    font-variant-numeric: tabular-nums; }
  .date { color: var(--muted); font-size: clamp(0.75rem, 5.5cqmin, 1.25rem); }
  .rim { fill: none; stroke: var(--line); stroke-width: 2; }
  .mark { stroke: var(--muted); stroke-width: 1.5; stroke-linecap: round; }
  .hand { stroke: currentColor; stroke-linecap: round; }
  .hand.second, .pin { stroke: var(--accent); fill: var(--accent); }
  .digital svg { display: none; }
  .digital time { font-size: min(18cqi, 40cqb); }
  @container (min-aspect-ratio: 3/2) {
    .widget { flex-direction: row; gap: 5cqi; }
    .words { justify-items: start; }
    svg { width: min(40cqi, 84cqb); }
  }
`;

export function mount(element, context = {}) {
  const { locale, now = () => new Date() } = context;
  const root = stage(element, STYLE);
  const hands = {
    hour: svg("line", { class: "hand", y2: -24, "stroke-width": 4 }),
    minute: svg("line", { class: "hand", y2: -36, "stroke-width": 3 }),
    second: svg("line", { class: "hand second", y1: 8, y2: -39, "stroke-width": 1 }),
  };
  const time = el("time");
  const date = el("span", { class: "date" });
  const words = el("div", { class: "words" }, time, date);
  const widget = el("div", { role: "group" }, face(hands), words);
  root.append(widget);
  let config;
  let readParts;

  function tick() {
    const moment = now();
    const { hour, minute, second } = readParts(moment);
    hands.hour.setAttribute("transform", `rotate(${hour * 30 + minute / 2})`);
    hands.minute.setAttribute("transform", `rotate(${minute * 6 + second / 10})`);
    hands.second.setAttribute("transform", `rotate(${second * 6})`);
    const { timeZone, hour12 } = config;
    time.textContent = moment.toLocaleTimeString(locale, {
      hour: "2-digit",
      minute: "2-digit",
      second: config.seconds ? "2-digit" : undefined,
      hour12,
      timeZone,
    });
    const day = moment.toLocaleDateString(locale, { weekday: "long", day: "numeric",
      month: "long", timeZone });
    date.textContent = config.label ? `${config.label} · ${day}` : day;
  }

  function update(next) {
    // Config 1 said showSeconds.
    config = { ...next, seconds: next.seconds ?? next.showSeconds ?? false };
    readParts = partsReader(config.timeZone);
    widget.className = config.face === "digital" ? "widget digital" : "widget";
    widget.setAttribute("aria-label", config.label ? `Clock, ${config.label}` : "Clock");
    tick();
  }

  update(context.config ?? {});
  const timer = setInterval(tick, 1000);

  return {
    update,
    unmount() {
      clearInterval(timer);
      root.host.remove();
    },
  };
}

/** The dial. It is hidden from screen readers, who get the time as text. */
function face(hands) {
  const marks = Array.from({ length: 12 }, (_, hour) =>
    svg("line", { class: "mark", y1: -44, y2: hour % 3 ? -41 : -38,
      transform: `rotate(${hour * 30})` }));
  return svg("svg", { viewBox: "-50 -50 100 100", "aria-hidden": "true" },
    svg("circle", { class: "rim", r: 48 }), ...marks,
    hands.hour, hands.minute, hands.second, svg("circle", { class: "pin", r: 1.8 }));
}

/** A function from a Date to its { hour, minute, second } in the time zone. */
function partsReader(timeZone) {
  const format = new Intl.DateTimeFormat("en", { hour: "numeric", minute: "numeric",
    second: "numeric", hourCycle: "h23", timeZone });
  return (moment) => Object.fromEntries(
    format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
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
