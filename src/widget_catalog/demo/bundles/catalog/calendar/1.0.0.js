// Calendar: this month, today marked.

export const manifest = {
  scope: "catalog",
  name: "calendar",
  version: "1.0.0",
  displayName: "Calendar",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  table { width: 100%; height: 100%; border-collapse: collapse; text-align: center; }
  caption { padding-bottom: 0.4rem; font-weight: 600; }
  th { font-size: 0.8em; font-weight: 400; }
  [aria-current] { border-radius: 0.4rem; background: light-dark(#1f7a54, #2f9a6c); color: #fff; }
`;

export function mount(element, { locale } = {}) {
  const root = stage(element, STYLE);
  const today = new Date();
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Calendar" },
    month(today, locale)));
  return { unmount: () => root.host.remove() };
}

function month(today, locale) {
  const year = today.getFullYear();
  const first = new Date(year, today.getMonth(), 1);
  const days = new Date(year, today.getMonth() + 1, 0).getDate();
  const blanks = (first.getDay() + 6) % 7;
  const cells = [...Array(blanks).fill(null), ...Array.from({ length: days }, (_, i) => i + 1)];

  const table = el("table", {},
    el("caption", {}, today.toLocaleDateString(locale, { month: "long", year: "numeric" })),
    el("tr", {}, ...weekdays(locale).map((name) => el("th", { scope: "col" }, name))));
  for (let start = 0; start < cells.length; start += 7) {
    table.append(el("tr", {}, ...cells.slice(start, start + 7).map((day) =>
      el("td", day === today.getDate() ? { "aria-current": "date" } : {}, String(day ?? "")))));
  }
  return table;
}

/** Monday to Sunday; 1 January 2024 was a Monday. */
function weekdays(locale) {
  return Array.from({ length: 7 }, (_, i) =>
    new Date(2024, 0, 1 + i).toLocaleDateString(locale, { weekday: "short" }));
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
