// Host status: the machines the dashboard knows, with their load.
//
// data.hosts: [{ name, state: "up" | "busy" | "down", cpu, memory, disk }], shares from 0 to 1

export const manifest = {
  scope: "acme",
  name: "host-status",
  version: "2.0.0",
  displayName: "Host status",
  sdkVersion: "^2.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#34568b, #9fbdf0)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  table { width: 100%; border-collapse: collapse; }
  th, td { padding: 0.3rem 0.4rem; border-bottom: 1px solid var(--line); text-align: right; }
  :is(th, td):nth-child(-n + 2) { text-align: left; }
  thead th { color: var(--muted); font-size: 0.75rem; font-weight: 400; }
  td { font-variant-numeric: tabular-nums; }
  .up { color: light-dark(#1d7a3a, #6fdc8f); }
  .busy { color: light-dark(#8a5a00, #f2c063); }
  .down { color: light-dark(#b3261e, #ff8f82); font-weight: 600; }
`;

export function mount(element, { data = {}, locale } = {}) {
  const root = stage(element, STYLE);
  const hosts = data.hosts ?? [];
  const heads = ["Host", "State", "CPU", "Memory", "Disk"];
  const percent = (share) => (share === undefined
    ? "–"
    : share.toLocaleString(locale, { style: "percent" }));

  const rows = hosts.map(({ name, state, cpu, memory, disk }) => el("tr", {},
    el("th", { scope: "row" }, name),
    el("td", { class: state }, state),
    ...[cpu, memory, disk].map((share) => el("td", {}, percent(share)))));
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Host status" },
    hosts.length === 0
      ? el("p", {}, "No hosts yet: the dashboard offers none.")
      : el("table", {},
        el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
        el("tbody", {}, ...rows))));

  return { unmount: () => root.host.remove() };
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
