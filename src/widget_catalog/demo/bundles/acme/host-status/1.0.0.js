// Host status: machines and their state, as written in the settings.
//
// config: { hosts: [{ name, isUp }, ...] }

export const manifest = {
  scope: "acme",
  name: "host-status",
  version: "1.0.0",
  displayName: "Host status",
  sdkVersion: "~1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  ul { display: grid; gap: 0.4rem; margin: 0; padding: 0; list-style: none; }
  li { display: flex; justify-content: space-between; }
  .up { color: light-dark(#1d7a3a, #6fdc8f); }
  .down { color: light-dark(#b3261e, #ff8f82); font-weight: 600; }
`;

const HOSTS = [{ name: "web-1", isUp: true }, { name: "web-2", isUp: true }];

export function mount(element, { config = {} } = {}) {
  const root = stage(element, STYLE);
  const rows = (config.hosts ?? HOSTS).map(({ name, isUp }) => el("li", {},
    el("span", {}, name),
    el("span", { class: isUp ? "up" : "down" }, isUp ? "up" : "down")));
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Host status" },
    el("ul", {}, ...rows)));

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
