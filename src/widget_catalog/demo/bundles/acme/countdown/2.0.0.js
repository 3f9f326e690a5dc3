// Countdown: days, hours, minutes and seconds until a moment.
//
// config: { title, at: "2027-01-01T00:00", from: "2026-10-01T00:00" }
// `from` is where the bar starts; without it the bar covers a year.

export const manifest = {
  scope: "acme",
  name: "countdown",
  version: "2.0.0",
  displayName: "Countdown",
  sdkVersion: "^2.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#b4480f, #ffb07a)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: flex; flex-direction: column; justify-content: center; gap: 0.75rem; }
  h2 { margin: 0; font-size: clamp(0.95rem, 7cqmin, 1.4rem); text-align: center; }
  dl { display: grid; grid-template-columns: repeat(4, 1fr); gap: 0.4rem; margin: 0; }
  dl > div { display: flex; flex-direction: column-reverse; align-items: center; min-width: 0;
    padding: 0.5rem 0; border-radius: 0.6rem; background: light-dark(#fbf0e9, #33281f); }
  dt { color: var(--muted); font-size: clamp(0.65rem, 3.4cqi, 0.85rem); }
  dd { margin: 0; font-size: clamp(1.1rem, 8cqi, 2.6rem); font-weight: 700; line-height: 1.1;
    font-variant-numeric: tabular-nums; }
  .bar { height: 0.4rem; border-radius: 1rem; background: var(--line); overflow: hidden; }
  .fill { height: 100%; background: var(--accent); }
  .over dl, .over .bar { display: none; }
  @container (max-height: 7rem) { .bar { display: none; } .widget { gap: 0.3rem; } }
`;

const DAY_MS = 86_400_000;

export function mount(element, context = {}) {
  const { now = () => new Date() } = context;
  const root = stage(element, STYLE);
  const title = el("h2", { id: "title" });
  const figures = ["days", "hours", "min", "sec"].map((unit) => [unit, el("dd")]);
  const fill = el("div", { class: "fill" });
  const widget = el("div", { role: "group", "aria-labelledby": "title" },
    title,
    el("dl", { role: "timer" }, ...figures.map(([unit, figure]) =>
      el("div", {}, el("dt", {}, unit), figure))),
    el("div", { class: "bar", "aria-hidden": "true" }, fill));
  root.append(widget);
  let name;
  let target;
  let start;

  function tick() {
    const left = target - now();
    const isOver = left <= 0;
    widget.className = isOver ? "widget over" : "widget";
    title.textContent = isOver ? `${name}: it is time!` : name;
    const seconds = Math.max(0, Math.floor(left / 1000));
    const parts = [seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60];
    figures.forEach(([, figure], index) => {
      figure.textContent = String(Math.floor(parts[index])).padStart(index === 0 ? 1 : 2, "0");
    });
    const share = (now() - start) / (target - start);
    fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  }

  function update(config) {
    name = config.title ?? "New Year";
    // Config 1 had a date only.
    target = new Date(config.at ?? (config.date ? `${config.date}T00:00` : newYear(now())));
    start = config.from ? new Date(config.from) : new Date(target - 365 * DAY_MS);
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

const newYear = (date) => new Date(date.getFullYear() + 1, 0, 1);

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
