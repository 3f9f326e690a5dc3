// Time zones: the time and the weekday in a few places, under names of your own.
//
// config: { zones: [{ label, timeZone }, ...], hour12 }

export const manifest = {
  scope: "catalog",
  name: "world-clock",
  version: "1.1.0",
  displayName: "Time zones",
  sdkVersion: "^1.2.0",
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
  ul { display: grid; gap: 0.5rem; margin: 0; padding: 0; list-style: none; }
  li { display: grid; grid-template-columns: 1fr auto; align-items: baseline; }
  small { grid-row: 2; color: var(--muted); }
  time { font-size: 1.3em; font-variant-numeric: tabular-nums; }
`;

const ZONES = [
  { label: "London", timeZone: "Europe/London" },
  { label: "New York", timeZone: "America/New_York" },
  { label: "Tokyo", timeZone: "Asia/Tokyo" },
];

export function mount(element, context = {}) {
  const { locale } = context;
  let config = context.config ?? {};
  const root = stage(element, STYLE);
  const list = el("ul");
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Time zones" }, list));

  function row({ label, timeZone }, now) {
    const { hour12 } = config;
    return el("li", {},
      el("span", {}, label),
      el("time", {}, now.toLocaleTimeString(locale, {
        hour: "2-digit", minute: "2-digit", hour12, timeZone,
      })),
      el("small", {}, now.toLocaleDateString(locale, { weekday: "long", timeZone })));
  }

  function tick() {
    const now = new Date();
    list.replaceChildren(...(config.zones ?? ZONES).map((zone) => row(zone, now)));
  }

  tick();
  const timer = setInterval(tick, 10_000);

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
