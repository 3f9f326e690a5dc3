// Unit converter: length, mass and volume, from any unit to any other.

export const manifest = {
  scope: "catalog",
  name: "unit-converter",
  version: "1.1.0",
  displayName: "Unit converter",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#8a4bb5, #d3a6f2)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: grid; align-content: center; gap: 0.6rem; }
  .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0.5rem; align-items: center; }
  input, select { box-sizing: border-box; width: 100%; font: inherit; padding: 0.3rem 0.5rem; }
  output { font-size: 1.3rem; font-weight: 600; font-variant-numeric: tabular-nums; }
`;

// Every unit in terms of the first of its kind.
const KINDS = {
  Length: { metre: 1, kilometre: 1000, inch: 0.0254, foot: 0.3048, mile: 1609.344 },
  Mass: { kilogram: 1, gram: 0.001, ounce: 0.028349523125, pound: 0.45359237 },
  Volume: { litre: 1, millilitre: 0.001, "US cup": 0.2365882365, "US gallon": 3.785411784 },
};

export function mount(element, { locale } = {}) {
  const root = stage(element, STYLE);
  const kind = select("Kind", Object.keys(KINDS));
  const from = select("From", []);
  const to = select("To", []);
  const amount = el("input", { type: "number", value: "1", step: "any", "aria-label": "Amount" });
  const result = el("output", { "aria-label": "Result" });
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Unit converter" },
    kind,
    el("div", { class: "pair" }, amount, from),
    el("div", { class: "pair" }, result, to)));

  function offerUnits() {
    const names = Object.keys(KINDS[kind.value]);
    for (const list of [from, to]) list.replaceChildren(...names.map((name) => new Option(name)));
    to.selectedIndex = 1;
    convert();
  }

  function convert() {
    const units = KINDS[kind.value];
    const value = Number(amount.value) * units[from.value] / units[to.value];
    result.textContent = value.toLocaleString(locale, { maximumSignificantDigits: 6 });
  }

  kind.addEventListener("change", offerUnits);
  for (const input of [amount, from, to]) input.addEventListener("input", convert);
  offerUnits();

  return { unmount: () => root.host.remove() };
}

function select(label, names) {
  return el("select", { "aria-label": label }, ...names.map((name) => new Option(name)));
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
