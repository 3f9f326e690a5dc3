// Calendar: months with week numbers and the host's events.
//
// config: { firstDay: 0 (Sunday) or 1 (Monday, when left out) }
// data.calendar: [{ date: "2026-03-14", time: "18:30", title }]

export const manifest = {
  scope: "catalog",
  name: "calendar",
  version: "2.0.1",
  displayName: "Calendar",
  sdkVersion: "^2.0.0",
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
  .widget { display: flex; flex-direction: column; gap: 0.4rem; }
  header { display: flex; gap: 0.4rem; }
  h2 { flex: 1; margin: 0; font-size: 1rem; }
  table { flex: 1; width: 100%; border-collapse: collapse; text-align: center; }
  th { color: var(--muted); font-size: 0.75rem; font-weight: 400; }
  button { width: 100%; padding: 0.15rem 0; border: 1px solid transparent;
    border-radius: 0.5rem; background: none; color: inherit; font: inherit; cursor: pointer; }
  button:hover, [aria-pressed="true"] { border-color: var(--accent); }
  header button { width: 2rem; border-color: var(--line); }
  .today { color: var(--accent); font-weight: 700; }
  .busy { text-decoration: underline 2px var(--accent); text-underline-offset: 3px; }
  ul { margin: 0; padding: 0.4rem 0 0; border-top: 1px solid var(--line); list-style: none; }
`;

const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

export function mount(element, context = {}) {
  const { locale, now = () => new Date(), data = {} } = context;
  let firstDay = context.config?.firstDay ?? 1;
  let chosen = now();
  const root = stage(element, STYLE);
  const heading = el("h2", { "aria-live": "polite" });
  const table = el("table");
  const agenda = el("ul", { "aria-label": "Events" });
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Calendar" },
    el("header", {}, heading, turner("Previous month", "‹", -1), turner("Next month", "›", 1)),
    table, agenda));

  const eventsOn = (date) => (data.calendar ?? []).filter((event) => event.date === dayKey(date));

  function draw() {
    heading.textContent = chosen.toLocaleDateString(locale, { month: "long", year: "numeric" });
    const days = shift(chosen, 1, 0).getDate();
    const blanks = (shift(chosen, 0, 1).getDay() || 7) - firstDay;
    table.replaceChildren(el("tr", {}, ...["W", ...weekdays(locale, firstDay)].map((name) =>
      el("th", { scope: "col" }, name))));
    for (let day = 1 - blanks; day <= days; day += 7) {
      const week = el("th", { scope: "row" }, weekNumber(shift(chosen, 0, day)));
      table.append(el("tr", {}, week, ...Array.from({ length: 7 }, (_, i) =>
        cell(shift(chosen, 0, day + i)))));
    }
    const lines = eventsOn(chosen).map(({ time = "All day", title }) => `${time} · ${title}`);
    if (lines.length === 0) lines.push("Nothing planned.");
    agenda.replaceChildren(...lines.map((line) => el("li", {}, line)));
  }

  function cell(date) {
    if (date.getMonth() !== chosen.getMonth()) return el("td");
    const isChosen = dayKey(date) === dayKey(chosen);
    const count = eventsOn(date).length;
    const look = [dayKey(date) === dayKey(now()) ? "today" : "", count ? "busy" : ""].join(" ");
    const spoken = date.toLocaleDateString(locale, { day: "numeric", month: "long" });
    const button = el("button", { class: look, tabindex: isChosen ? 0 : -1,
      "aria-pressed": isChosen, "aria-label": spoken + (count ? `, events: ${count}` : "") },
    date.getDate());
    button.addEventListener("click", () => choose(date));
    return el("td", {}, button);
  }

  function choose(date) {
    chosen = date;
    draw();
    table.querySelector("[tabindex='0']").focus();
  }

  function turner(label, sign, months) {
    const button = el("button", { "aria-label": label }, sign);
    button.addEventListener("click", () => {
      chosen = shift(chosen, months, 1);
      draw();
    });
    return button;
  }

  table.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose(shift(chosen, 0, chosen.getDate() + step));
  });
  draw();

  return {
    update(config) {
      firstDay = config.firstDay ?? 1;
      draw();
    },
    unmount: () => root.host.remove(),
  };
}

const shift = (date, months, day) => new Date(date.getFullYear(), date.getMonth() + months, day);

/** 2026-03-14 */
const dayKey = (date) => date.toLocaleDateString("sv-SE");

/** ISO 8601: a week belongs to the year of its Thursday. */
function weekNumber(date) {
  const thursday = shift(date, 0, date.getDate() + 4 - (date.getDay() || 7));
  const newYear = new Date(thursday.getFullYear(), 0, 1);
  return Math.ceil((thursday - newYear) / (7 * 86_400_000) + 0.1);
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
