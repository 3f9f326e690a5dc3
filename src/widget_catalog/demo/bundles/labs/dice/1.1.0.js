// Dice: up to six dice with drawn faces, and their sum.
//
// config: { count: 1 to 6 }

export const manifest = {
  scope: "labs",
  name: "dice",
  version: "1.1.0",
  displayName: "Dice",
  sdkVersion: "1.x || 2.x",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#1d6b6b, #7ad6d6)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: flex; flex-direction: column; align-items: center; gap: 0.6rem;
    justify-content: safe center; }
  .dice { display: flex; flex-wrap: wrap; justify-content: center; gap: 0.6rem; }
  svg { width: clamp(2.6rem, 26cqmin, 6rem); }
  rect { fill: light-dark(#fbfbf7, #e9e7df); stroke: light-dark(#c9c7bd, #e9e7df); }
  circle { fill: #24262b; }
  p { margin: 0; font-weight: 600; }
  button { padding: 0.25rem 0.7rem; border: 1px solid var(--line); border-radius: 0.5rem;
    background: none; color: inherit; font: inherit; cursor: pointer; }
  button:hover { border-color: var(--accent); }
  button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

// Pips on a grid of three by three, numbered from the top left.
const PIPS = [[4], [2, 6], [2, 4, 6], [0, 2, 6, 8], [0, 2, 4, 6, 8], [0, 2, 3, 5, 6, 8]];

export function mount(element, context = {}) {
  let count;
  const root = stage(element, STYLE);
  const dice = el("div", { class: "dice" });
  const sum = el("p", { role: "status" });
  const button = el("button", { type: "button" }, "Throw");
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Dice" },
    dice, sum, button));

  function show(values) {
    const total = values.reduce((left, right) => left + right, 0);
    dice.replaceChildren(...values.map(die));
    sum.textContent = values.length === 1 ? String(total) : `${values.join(" + ")} = ${total}`;
  }

  function update(config) {
    count = Math.max(1, Math.min(6, config.count ?? 2));
    show(Array(count).fill(6));
  }

  button.addEventListener("click", () => show(Array.from({ length: count }, throwDie)));
  update(context.config ?? {});

  return { update, unmount: () => root.host.remove() };
}

/** 1 to 6, all alike: values above the last multiple of six are thrown again. */
function throwDie() {
  const [byte] = crypto.getRandomValues(new Uint8Array(1));
  return byte < 252 ? 1 + byte % 6 : throwDie();
}

function die(value) {
  return svg("svg", { viewBox: "0 0 40 40", "aria-hidden": "true" },
    svg("rect", { x: 1, y: 1, width: 38, height: 38, rx: 8 }),
    ...PIPS[value - 1].map((place) =>
      svg("circle", { r: 3.6, cx: 10 + place % 3 * 10, cy: 10 + Math.floor(place / 3) * 10 })));
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
