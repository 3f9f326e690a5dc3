// Clock: large figures with the date below, seconds and 12-hour time on request.

export const manifest = {
  scope: "catalog",
  name: "clock",
  version: "1.1.0",
  displayName: "Clock",
  sdkVersion: "^1.2.0",
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
  .widget { display: grid; place-content: center; justify-items: center; gap: 0.4rem; }
  time { font-size: min(22cqi, 45cqb); font-variant-numeric: tabular-nums; line-height: 1; }
  .date { color: var(--muted); font-size: clamp(0.75rem, 6cqi, 1.25rem); }
`;

export function mount(element, context = {}) {
  const { locale } = context;
  let config = context.config ?? {};
  const root = stage(element, STYLE);
  const time = el("time");
  const date = el("span", { class: "date" });
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Clock" }, time, date));

  function tick() {
    const now = new Date();
    time.textContent = now.toLocaleTimeString(locale, {
      hour: "2-digit",
      minute: "2-digit",
      second: config.showSeconds ? "2-digit" : undefined,
      hour12: config.hour12,
    });
    date.textContent = now.toLocaleDateString(locale, {
      weekday: "long",
      day: "numeric",
      month: "long",
    });
  }

  tick();
  const timer = setInterval(tick, 1000);

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
