// Stopwatch: hundredths and laps, with the fastest and the slowest lap marked.

export const manifest = {
  scope: "acme",
  name: "stopwatch",
  version: "1.1.0",
  displayName: "Stopwatch",
  sdkVersion: "^1.0.0 || ^2.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#2b6e2f, #8ddb8f)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: flex; flex-direction: column; gap: 0.6rem; justify-content: safe center; }
  [role="timer"] { font-size: clamp(1.6rem, min(15cqi, 28cqb), 4rem); font-weight: 600;
    font-variant-numeric: tabular-nums; line-height: 1; text-align: center; }
  .buttons { display: flex; justify-content: center; gap: 0.4rem; }
  button { padding: 0.25rem 0.7rem; border: 1px solid var(--line); border-radius: 0.5rem;
    background: none; color: inherit; font: inherit; cursor: pointer; }
  button:hover { border-color: var(--accent); }
  button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  .main { border-color: var(--accent); background: var(--accent);
    color: light-dark(#ffffff, #10240f); }
  button:disabled { opacity: 0.5; cursor: default; }
  ol { display: flex; flex-direction: column-reverse; justify-content: start; margin: 0; padding: 0;
    list-style: none; font-variant-numeric: tabular-nums; }
  li { display: flex; gap: 0.6rem; padding: 0.2rem 0.25rem; border-top: 1px solid var(--line);
    font-size: 0.9rem; }
  li span { color: var(--muted); }
  li b { margin-left: auto; font-weight: 600; }
  .fastest em { color: var(--accent); } .slowest em { color: light-dark(#b3261e, #ff8f82); }
  @container (max-height: 11rem) { ol { display: none; } }
  @container (max-width: 14rem) { button { padding: 0.15rem 0.4rem; font-size: 0.85rem; } }
`;

export function mount(element) {
  const root = stage(element, STYLE);
  const figure = el("div", { role: "timer" });
  const toggle = el("button", { type: "button", class: "main" });
  const lap = el("button", { type: "button" }, "Lap");
  const reset = el("button", { type: "button" }, "Reset");
  const list = el("ol", { "aria-label": "Laps" });
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Stopwatch" },
    figure, el("div", { class: "buttons" }, toggle, lap, reset), list));

  // Time runs from startedAt, on top of what earlier runs have saved up.
  let saved = 0;
  let startedAt = null;
  let laps = [];
  let timer;

  const elapsed = () => saved + (startedAt === null ? 0 : performance.now() - startedAt);

  function showTime() {
    figure.textContent = clockText(elapsed());
  }

  function draw() {
    showTime();
    toggle.textContent = startedAt === null ? "Start" : "Stop";
    lap.disabled = startedAt === null;
    reset.disabled = elapsed() === 0;
    list.replaceChildren(...laps.map(row));
  }

  function row(time, index) {
    const isMarked = laps.length > 2;
    const look = isMarked && time === Math.min(...laps) ? "fastest"
      : isMarked && time === Math.max(...laps) ? "slowest" : "";
    return el("li", { class: look }, el("span", {}, `Lap ${index + 1}`), el("em", {}, look),
      el("b", {}, clockText(time)));
  }

  toggle.addEventListener("click", () => {
    if (startedAt === null) {
      startedAt = performance.now();
      timer = setInterval(showTime, 40);
    } else {
      saved = elapsed();
      startedAt = null;
      clearInterval(timer);
    }
    draw();
  });
  lap.addEventListener("click", () => {
    laps = [...laps, elapsed() - laps.reduce((sum, time) => sum + time, 0)];
    draw();
  });
  reset.addEventListener("click", () => {
    saved = 0;
    startedAt = startedAt === null ? null : performance.now();
    laps = [];
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

/** 83456 -> "1:23.45" */
function clockText(ms) {
  const two = (value) => String(Math.floor(value)).padStart(2, "0");
  return `${Math.floor(ms / 60_000)}:${two(ms / 1000 % 60)}.${two(ms / 10 % 100)}`;
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
