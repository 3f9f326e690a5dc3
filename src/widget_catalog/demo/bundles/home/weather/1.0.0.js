// Weather: place, temperature and sky, as written in the settings.
//
// config: { place, temperature, condition }

export const manifest = {
  scope: "home",
  name: "weather",
  version: "1.0.0",
  displayName: "Weather",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  .widget { display: grid; place-content: center; justify-items: center; text-align: center; }
  strong { font-size: min(34cqi, 45cqb); font-weight: 300; line-height: 1.1; }
`;

export function mount(element, { config = {} } = {}) {
  const { place = "Somewhere", temperature = 18, condition = "fair" } = config;
  const root = stage(element, STYLE);
  root.append(el("div", { class: "widget", role: "group", "aria-label": `Weather in ${place}` },
    el("span", {}, place),
    el("strong", {}, `${Math.round(temperature)}°`),
    el("span", {}, condition)));

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
