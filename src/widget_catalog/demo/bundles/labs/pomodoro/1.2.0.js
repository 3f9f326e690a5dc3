// Pomodoro: work, short breaks and a long one after every fourth round.
//
// config: { workMinutes, breakMinutes, longBreakMinutes, rounds }

export const manifest = {
  scope: "labs",
  name: "pomodoro",
  version: "1.2.0",
  displayName: "Pomodoro",
  sdkVersion: "1.2 - 2",
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
  .widget { display: flex; align-items: center; justify-content: safe center; gap: 0.75rem;
    flex-direction: column; }
  .rest { --accent: light-dark(#1d7a4a, #7fdcab); }
  .dial { position: relative; display: grid; place-items: center; flex: none;
    width: min(80cqi, 58cqb, 15rem); aspect-ratio: 1; }
  svg { position: absolute; inset: 0; rotate: -90deg; }
  circle { fill: none; stroke: var(--line); stroke-width: 6; }
  .left { stroke: var(--accent); stroke-linecap: round; }
  .words { display: grid; justify-items: center; }
  [role="timer"] { font-size: clamp(1.2rem, 13cqmin, 3rem); font-weight: 600;
    font-variant-numeric: tabular-nums; }
  .phase { color: var(--accent); font-size: clamp(0.7rem, 5cqmin, 0.95rem); }
  small { color: var(--muted); }
  .buttons { display: flex; flex-wrap: wrap; justify-content: center; gap: 0.4rem; }
  button { padding: 0.25rem 0.7rem; border: 1px solid var(--line); border-radius: 0.5rem;
    background: none; color: inherit; font: inherit; cursor: pointer; }
  button:hover { border-color: var(--accent); }
  button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  .main { border-color: var(--accent); background: var(--accent);
    color: light-dark(#fff, #23100d); }
  @container (max-width: 14rem) { button { padding: 0.1rem 0.4rem; font-size: 0.8rem; }
    small { display: none; } }
  @container (min-aspect-ratio: 3/2) {
    .widget { flex-direction: row; }
    .dial { width: min(45cqi, 82cqb); }
    .buttons { flex-direction: column; }
  }
`;

const PHASES = {
  work: { title: "Work", setting: "workMinutes", minutes: 25 },
  break: { title: "Break", setting: "breakMinutes", minutes: 5 },
  long: { title: "Long break", setting: "longBreakMinutes", minutes: 15 },
};

export function mount(element, context = {}) {
  const { now = () => new Date() } = context;
  let config = context.config ?? {};
  const root = stage(element, STYLE);
  const ring = svg("circle", { class: "left", r: 46, pathLength: 100 });
  const phase = el("div", { class: "phase", role: "status" });
  const figure = el("div", { role: "timer" });
  const roundText = el("small");
  const toggle = el("button", { type: "button", class: "main" });
  const skip = el("button", { type: "button" }, "Skip");
  const reset = el("button", { type: "button" }, "Reset");
  const widget = el("div", { role: "group", "aria-label": "Pomodoro" },
    el("div", { class: "dial" },
      svg("svg", { viewBox: "-50 -50 100 100", "aria-hidden": "true" },
        svg("circle", { r: 46 }), ring),
      el("div", { class: "words" }, phase, figure, roundText)),
    el("div", { class: "buttons" }, toggle, skip, reset));
  root.append(widget);

  let name;
  let round;
  let leftMs;
  let endsAt = null; // A deadline while it runs, so nothing drifts.

  const rounds = () => config.rounds ?? 4;
  const lengthMs = () => (config[PHASES[name].setting] ?? PHASES[name].minutes) * 60_000;

  function enter(next) {
    name = next;
    leftMs = lengthMs();
    if (endsAt !== null) endsAt = now().getTime() + leftMs;
    draw();
  }

  function turn() {
    if (name === "work") return enter(round === rounds() ? "long" : "break");
    round = name === "long" ? 1 : round + 1;
    return enter("work");
  }

  function draw() {
    const seconds = Math.ceil(leftMs / 1000);
    figure.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (phase.textContent !== PHASES[name].title) phase.textContent = PHASES[name].title;
    roundText.textContent = `round ${round} of ${rounds()}`;
    toggle.textContent = endsAt === null ? "Start" : "Pause";
    widget.className = name === "work" ? "widget" : "widget rest";
    ring.setAttribute("stroke-dasharray", `${leftMs / lengthMs() * 100} 200`);
  }

  function tick() {
    if (endsAt === null) return;
    leftMs = Math.max(0, endsAt - now());
    if (leftMs === 0) turn();
    draw();
  }

  function restart() {
    endsAt = null;
    round = 1;
    enter("work");
  }

  toggle.addEventListener("click", () => {
    tick();
    endsAt = endsAt === null ? now().getTime() + leftMs : null;
    draw();
  });
  skip.addEventListener("click", turn);
  reset.addEventListener("click", restart);
  restart();
  const timer = setInterval(tick, 250);

  return {
    update(next) {
      config = next;
      restart();
    },
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

const SVG = "http://www.w3.org/2000/svg";
const el = (tag, ...rest) => dress(document.createElement(tag), ...rest);
const svg = (tag, ...rest) => dress(document.createElementNS(SVG, tag), ...rest);

/** Gives a node attributes and children; these are nodes or plain text, never markup. */
function dress(node, attributes = {}, ...children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
