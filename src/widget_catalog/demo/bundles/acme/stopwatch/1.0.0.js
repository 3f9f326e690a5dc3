// Stopwatch: start, stop, reset.

export const manifest = {
  scope: "acme",
  name: "stopwatch",
  version: "1.0.0",
  displayName: "Stopwatch",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  .widget { display: grid; place-content: center; justify-items: center; gap: 0.6rem; }
  [role="timer"] { font-size: min(18cqi, 40cqb); line-height: 1;
    font-variant-numeric: tabular-nums; }
  button { font: inherit; padding: 0.3rem 0.9rem; }
`;

export function mount(element) {
  const root = stage(element, STYLE);
  const figure = el("div", { role: "timer" });
  const toggle = el("button", { type: "button" });
  const reset = el("button", { type: "button" }, "Reset");
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Stopwatch" },
    figure, el("div", {}, toggle, " ", reset)));
  let elapsed = 0;
  let last;
  let timer;

  function draw() {
    const tenths = Math.floor(elapsed / 100);
    const minutes = Math.floor(tenths / 600);
    const seconds = String(Math.floor(tenths / 10) % 60).padStart(2, "0");
    figure.textContent = `${minutes}:${seconds}.${tenths % 10}`;
    toggle.textContent = timer === undefined ? "Start" : "Stop";
  }

  function tick() {
    const now = performance.now();
    elapsed += now - last;
    last = now;
    draw();
  }

  function stop() {
    clearInterval(timer);
    timer = undefined;
    draw();
  }

  toggle.addEventListener("click", () => {
    if (timer !== undefined) {
      stop();
      return;
    }
    last = performance.now();
    timer = setInterval(tick, 100);
    draw();
  });
  reset.addEventListener("click", () => {
    elapsed = 0;
    draw();
  });
  draw();

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
