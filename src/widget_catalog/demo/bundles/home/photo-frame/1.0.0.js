// Photo frame: one picture from the settings, or a drawn landscape.
//
// config: { src, alt }

export const manifest = {
  scope: "home",
  name: "photo-frame",
  version: "1.0.0",
  displayName: "Photo frame",
  sdkVersion: ">=1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  .widget { padding: 0; }
  figure { position: relative; height: 100%; margin: 0; }
  img, svg { display: block; width: 100%; height: 100%; object-fit: cover; }
  figcaption { position: absolute; inset: auto 0 0; padding: 0.4rem 0.8rem; background: #000a;
    color: #fff; font-size: 0.85rem; }
`;

export function mount(element, { config = {} } = {}) {
  const root = stage(element, STYLE);
  const caption = config.src ? config.alt ?? "Photo" : "Hills in the morning";
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Photo frame" },
    el("figure", {},
      config.src ? el("img", { src: config.src, alt: "" }) : landscape(),
      el("figcaption", {}, caption))));

  return { unmount: () => root.host.remove() };
}

function landscape() {
  const layer = (fill, d) => svg("path", { fill, d });
  return svg("svg", { viewBox: "0 0 160 100", preserveAspectRatio: "xMidYMid slice",
    "aria-hidden": "true" },
    svg("rect", { width: 160, height: 100, fill: "#f7d9b5" }),
    svg("circle", { cx: 112, cy: 38, r: 11, fill: "#fff3d6" }),
    layer("#c9a6a0", "M0 62Q30 44 62 60T160 54V100H0z"),
    layer("#8e7a8c", "M0 74Q44 56 84 74T160 68V100H0z"),
    layer("#514c66", "M0 88Q36 74 78 86T160 82V100H0z"));
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
