// Pomodoro: work and breaks in turn, with a pause button.
//
// config: { workMinutes, breakMinutes }

export const manifest = {
  scope: "labs",
  name: "pomodoro",
  version: "1.1.0",
  displayName: "Pomodoro",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#c0392b, #ff9d90)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: grid; place-content: center; justify-items: center; gap: 0.5rem; }
  [role="timer"] { font-size: min(24cqi, 40cqb); line-height: 1;
    font-variant-numeric: tabular-nums; }
  .phase { color: var(--accent); font-weight: 600; }
  .buttons { display: flex; gap: 0.4rem; }
  button { padding: 0.25rem 0.7rem; border: 1px solid var(--line); border-radius: 0.5rem;
    background: none; color: inherit; font: inherit; cursor: pointer; }
  button:hover { border-color: var(--accent); }
  button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

export function mount(element, { config = {} } = {}) {
  const minutes = { Work: config.workMinutes ?? 25, Break: config.breakMinutes ?? 5 };
  const root = stage(element, STYLE);
  const phase = el("div", { class: "phase", role: "status" });
  const figure = el("div", { role: "timer" });
  const toggle = el("button", { type: "button" });
  const skip = el("button", { type: "button" }, "Skip");
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Pomodoro" },
    phase, figure, el("div", { class: "buttons" }, toggle, skip)));
  let name;
  let left;
  let timer;

  function draw() {
    const seconds = String(left % 60).padStart(2, "0");
    figure.textContent = `${Math.floor(left / 60)}:${seconds}`;
    toggle.textContent = timer === undefined ? "Start" : "Pause";
  }

  function enter(next) {
    name = next;
    left = minutes[name] * 60;
    phase.textContent = name;
    draw();
  }

  const turn = () => enter(name === "Work" ? "Break" : "Work");

  function tick() {
    left -= 1;
    if (left <= 0) turn();
    draw();
  }

  toggle.addEventListener("click", () => {
    clearInterval(timer);
    timer = timer === undefined ? setInterval(tick, 1000) : undefined;
    draw();
  });
  skip.addEventListener("click", turn);
  enter("Work");

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
