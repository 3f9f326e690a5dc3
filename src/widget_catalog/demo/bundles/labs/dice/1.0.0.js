// Dice: one die, thrown with a button.

export const manifest = {
  scope: "labs",
  name: "dice",
  version: "1.0.0",
  displayName: "Dice",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  .widget { display: grid; place-content: center; justify-items: center; gap: 0.5rem; }
  output { font-size: min(40cqi, 50cqb); line-height: 1; }
  button { font: inherit; padding: 0.3rem 0.9rem; }
`;

export function mount(element) {
  const root = stage(element, STYLE);
  const figure = el("output", {}, "6");
  const button = el("button", { type: "button" }, "Throw");
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Dice" }, figure, button));

  button.addEventListener("click", () => {
    figure.textContent = String(1 + Math.floor(Math.random() * 6));
  });

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
