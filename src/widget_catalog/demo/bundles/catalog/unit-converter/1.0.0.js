// Unit converter: metres, kilometres, feet and miles.

export const manifest = {
  scope: "catalog",
  name: "unit-converter",
  version: "1.0.0",
  displayName: "Unit converter",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  dl { display: grid; grid-template-columns: 1fr auto; gap: 0.4rem 1rem; margin: 0.75rem 0 0; }
  dd { margin: 0; font-variant-numeric: tabular-nums; text-align: right; }
  input { box-sizing: border-box; width: 100%; font: inherit; padding: 0.3rem 0.5rem; }
`;

const UNITS = { kilometres: 1000, feet: 0.3048, yards: 0.9144, miles: 1609.344 };

export function mount(element, { locale } = {}) {
  const root = stage(element, STYLE);
  const input = el("input", { type: "number", value: "100", step: "any" });
  const list = el("dl", { "aria-live": "polite" });
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Unit converter" },
    el("label", {}, "Metres ", input), list));

  function draw() {
    list.replaceChildren(...Object.entries(UNITS).flatMap(([name, metres]) => [
      el("dt", {}, name),
      el("dd", {}, (Number(input.value) / metres).toLocaleString(locale, {
        maximumSignificantDigits: 6,
      })),
    ]));
  }

  input.addEventListener("input", draw);
  draw();

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
