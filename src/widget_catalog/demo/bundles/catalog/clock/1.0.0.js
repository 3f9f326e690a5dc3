// Clock: hours and minutes in large figures.

export const manifest = {
  scope: "catalog",
  name: "clock",
  version: "1.0.0",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  .widget { display: grid; place-items: center; }
  time { font-size: min(30cqi, 60cqb); font-variant-numeric: tabular-nums; line-height: 1; }
`;

export function mount(element, { locale } = {}) {
  const root = stage(element, STYLE);
  const time = el("time");
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Clock" }, time));

  function tick() {
    time.textContent = new Date().toLocaleTimeString(locale, {
      hour: "2-digit",
      minute: "2-digit",
    });
  }

  tick();
  const timer = setInterval(tick, 1000);

  return {
    unmount() {
      clearInterval(timer);
      root.host.remove();
    },
  };
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
