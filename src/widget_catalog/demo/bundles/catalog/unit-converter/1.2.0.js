// Unit converter: write on either side; temperatures, speeds and data sizes too.
//
// config: { kind: "Length" | "Mass" | "Volume" | "Temperature" | "Speed" | "Data" }

export const manifest = {
  scope: "catalog",
  name: "unit-converter",
  version: "1.2.0",
  displayName: "Unit converter",
  sdkVersion: ">=1.2 <3",
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
  .widget { display: grid; align-content: safe center; gap: 0.6rem; }
  .sides { display: grid; grid-template-columns: 1fr auto 1fr; gap: 0.5rem; align-items: center; }
  .side { display: grid; gap: 0.35rem; min-width: 0; }
  input, select { box-sizing: border-box; width: 100%; min-width: 0; font: inherit;
    color: inherit; padding: 0.35rem 0.5rem; border: 1px solid var(--line);
    border-radius: 0.5rem; background: light-dark(#f8f9fb, #242a37); }
  input { font-size: 1.2rem; font-weight: 600; font-variant-numeric: tabular-nums; }
  .rule { margin: 0; color: var(--muted); font-size: 0.85rem; text-align: center; }
  button { padding: 0.25rem 0.7rem; border: 1px solid var(--line); border-radius: 0.5rem;
    background: none; color: inherit; font: inherit; cursor: pointer; }
  button:hover { border-color: var(--accent); }
  button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  @container (max-width: 17rem) {
    .sides { grid-template-columns: 1fr; }
    .sides > button { justify-self: center; rotate: 90deg; }
  }
`;

// A unit is a factor to the first of its kind, or a pair of functions to and from it.
const KINDS = {
  Length: { metre: 1, kilometre: 1000, inch: 0.0254, foot: 0.3048, mile: 1609.344 },
  Mass: { kilogram: 1, gram: 0.001, ounce: 0.028349523125, pound: 0.45359237 },
  Volume: { litre: 1, millilitre: 0.001, "US cup": 0.2365882365, "US gallon": 3.785411784 },
  Temperature: {
    "°C": 1,
    "°F": [(f) => (f - 32) / 1.8, (c) => c * 1.8 + 32],
    K: [(k) => k - 273.15, (c) => c + 273.15],
  },
  Speed: { "km/h": 1, "m/s": 3.6, mph: 1.609344, knot: 1.852 },
  Data: { MB: 1, kB: 0.001, GB: 1000, MiB: 1.048576, GiB: 1073.741824 },
};

export function mount(element, context = {}) {
  const root = stage(element, STYLE);
  const kind = select("Kind of unit", Object.keys(KINDS));
  const left = side("left");
  const right = side("right");
  const swap = el("button", { type: "button", "aria-label": "Swap units" }, "⇄");
  const rule = el("p", { class: "rule", "aria-live": "polite" });
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Unit converter" },
    kind, el("div", { class: "sides" }, left.box, swap, right.box), rule));

  function convert(from, to) {
    const units = KINDS[kind.value];
    const change = (value) => fromBase(toBase(value, units[from.unit.value]), units[to.unit.value]);
    to.amount.value = tidy(change(Number(from.amount.value)));
    rule.textContent = `1 ${left.unit.value} = ${words(left, right, units)} ${right.unit.value}`;
  }

  function words(from, to, units) {
    const one = fromBase(toBase(1, units[from.unit.value]), units[to.unit.value]);
    return one.toLocaleString(context.locale, { maximumSignificantDigits: 6 });
  }

  function offerUnits() {
    const names = Object.keys(KINDS[kind.value]);
    for (const { unit } of [left, right]) {
      unit.replaceChildren(...names.map((name) => new Option(name)));
    }
    right.unit.selectedIndex = 1;
    convert(left, right);
  }

  function update(config) {
    if (config.kind in KINDS) kind.value = config.kind;
    offerUnits();
  }

  kind.addEventListener("change", offerUnits);
  left.box.addEventListener("input", () => convert(left, right));
  right.amount.addEventListener("input", () => convert(right, left));
  right.unit.addEventListener("input", () => convert(left, right));
  swap.addEventListener("click", () => {
    [left.unit.value, right.unit.value] = [right.unit.value, left.unit.value];
    convert(left, right);
  });
  update(context.config ?? {});

  return { update, unmount: () => root.host.remove() };
}

const toBase = (value, unit) => (Array.isArray(unit) ? unit[0](value) : value * unit);
const fromBase = (value, unit) => (Array.isArray(unit) ? unit[1](value) : value / unit);

/** Six significant digits, without the tail that floating point leaves. */
const tidy = (value) => String(Number(value.toPrecision(6)));

function side(name) {
  const amount = el("input", { type: "number", value: "1", step: "any",
    "aria-label": `Amount, ${name}` });
  const unit = select(`Unit, ${name}`, []);
  return { amount, unit, box: el("div", { class: "side" }, amount, unit) };
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
