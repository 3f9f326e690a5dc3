// Calendar: leaf through the months; weeks start on the day you like.
//
// config: { firstDay: 0 (Sunday) to 6 (Saturday), 1 when left out }

export const manifest = {
  scope: "catalog",
  name: "calendar",
  version: "1.1.0",
  displayName: "Calendar",
  sdkVersion: "^1.2.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#1f7a54, #6fd3a5)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: grid; grid-template-rows: auto 1fr; gap: 0.4rem; }
  header { display: flex; align-items: center; gap: 0.4rem; }
  h2 { flex: 1; margin: 0; font-size: 1rem; }
  table { width: 100%; height: 100%; border-collapse: collapse; text-align: center; }
  th { color: var(--muted); font-size: 0.8em; font-weight: 400; }
  [aria-current] { outline: 2px solid var(--accent); border-radius: 0.4rem; font-weight: 700; }
  button { padding: 0.25rem 0.7rem; border: 1px solid var(--line); border-radius: 0.5rem;
    background: none; color: inherit; font: inherit; cursor: pointer; }
  button:hover { border-color: var(--accent); }
  button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

export function mount(element, context = {}) {
  const { locale, now = () => new Date() } = context;
  let firstDay = context.config?.firstDay ?? 1;
  let shown = startOfMonth(now(), 0);
  const root = stage(element, STYLE);
  const title = el("h2", { "aria-live": "polite" });
  const back = el("button", { type: "button", "aria-label": "Previous month" }, "‹");
  const ahead = el("button", { type: "button", "aria-label": "Next month" }, "›");
  const table = el("table");
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Calendar" },
    el("header", {}, title, back, ahead), table));

  function draw() {
    const today = now().toDateString();
    const days = startOfMonth(shown, 1, 0).getDate();
    const blanks = (shown.getDay() - firstDay + 7) % 7;
    title.textContent = shown.toLocaleDateString(locale, { month: "long", year: "numeric" });
    table.replaceChildren(el("tr", {}, ...weekdays(locale, firstDay).map((name) =>
      el("th", { scope: "col" }, name))));
    for (let day = 1 - blanks; day <= days; day += 7) {
      const week = Array.from({ length: 7 }, (_, i) => cell(day + i, days, today));
      table.append(el("tr", {}, ...week));
    }
  }

  function cell(day, days, today) {
    if (day < 1 || day > days) return el("td");
    const isToday = startOfMonth(shown, 0, day).toDateString() === today;
    return el("td", isToday ? { "aria-current": "date" } : {}, String(day));
  }

  function turn(months) {
    shown = startOfMonth(shown, months);
    draw();
  }

  back.addEventListener("click", () => turn(-1));
  ahead.addEventListener("click", () => turn(1));
  draw();

  return {
    update(config) {
      firstDay = config.firstDay ?? 1;
      draw();
    },
    unmount: () => root.host.remove(),
  };
}

function startOfMonth(date, months, day = 1) {
  return new Date(date.getFullYear(), date.getMonth() + months, day);
}

/** Weekday names from firstDay on; 7 January 2024 was a Sunday. */
function weekdays(locale, firstDay) {
  return Array.from({ length: 7 }, (_, i) =>
    new Date(2024, 0, 7 + firstDay + i).toLocaleDateString(locale, { weekday: "short" }));
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
