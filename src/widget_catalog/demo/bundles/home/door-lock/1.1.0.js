// Door lock: whether a door is locked. It locks at once, and asks before it unlocks.
//
// config: { lock: "lock.front_door" }; without: the first lock.

export const manifest = {
  scope: "home",
  name: "door-lock",
  version: "1.1.0",
  displayName: "Door lock",
  sdkVersion: "^2.2.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#1f6f43, #7fdba5)); }
  .widget { display: grid; place-content: safe center; justify-items: center; gap: 0.5rem;
    box-sizing: border-box; height: 100%; overflow: auto; text-align: center;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  svg { height: min(30cqi, 34cqb); fill: none; stroke: currentColor; stroke-width: 2; }
  rect { fill: currentColor; stroke: none; }
  strong { color: light-dark(#a3341f, #ff9d85); }
  .locked strong { color: var(--accent); }
  p { margin: 0; color: var(--muted); font-size: 0.85rem; }
  .buttons { display: flex; flex-wrap: wrap; justify-content: center; gap: 0.5rem; }
  button { padding: 0.45rem 0.9rem; border: 0; border-radius: 0.6rem; color: inherit;
    background: var(--line); font: inherit; cursor: pointer; }
  button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

const ASKS_FOR_MS = 10_000;

export function mount(element, context = {}) {
  const { states, watchStates, call } = context;
  const root = stage(element, STYLE);
  const shackle = svg("path");
  const sign = svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, shackle,
    svg("rect", { x: 5, y: 11, width: 14, height: 10, rx: 2 }));
  const words = el("strong");
  const buttons = el("div", { class: "buttons" });
  const status = el("p", { role: "status" });
  const widget = el("div", { role: "group", "aria-label": "Door lock" }, sign, words, buttons,
    status);
  root.append(widget);
  let pattern;
  let lock;
  let timer;
  let stop = () => {};

  function show([found]) {
    lock = found;
    clearTimeout(timer);
    const isLocked = lock?.state === "locked";
    widget.className = isLocked ? "widget locked" : "widget";
    shackle.setAttribute("d", isLocked ? "M8 12V7a4 4 0 0 1 8 0v5" : "M8 12V6a4 4 0 0 1 8 0");
    const name = lock?.attributes?.name ?? lock?.entity ?? "Door lock";
    words.textContent = lock ? `${name}: ${isLocked ? "locked" : "open"}` : name;
    status.textContent = lock ? "" : "This dashboard has no lock to show.";
    const act = isLocked ? button("Unlock …", () => ask(name)) : button("Lock", () => turn("lock"));
    buttons.replaceChildren(...(lock && call ? [act] : []));
  }

  /** A door that was opened by mistake stays open: somebody has to say so twice. */
  function ask(name) {
    status.textContent = `Unlock ${name}?`;
    const no = button("No", () => show([lock]));
    buttons.replaceChildren(button("Yes, unlock", () => turn("unlock")), no);
    no.focus();
    timer = setTimeout(() => show([lock]), ASKS_FOR_MS);
  }

  async function turn(service) {
    clearTimeout(timer);
    buttons.replaceChildren();
    const failed = await call(`lock.${service}`, { entity: lock.entity }).then(() => "", String);
    await read();
    status.textContent ||= failed;
  }

  async function read() {
    show((await states?.(pattern).catch(() => [])) ?? []);
  }

  function update(config) {
    stop();
    pattern = config.lock ?? "lock.*";
    stop = watchStates?.(pattern, read) ?? stop;
    show([]);
    read();
  }

  update(context.config ?? {});

  return {
    update,
    unmount() {
      stop();
      clearTimeout(timer);
      root.host.remove();
    },
  };
}

function button(label, act) {
  const node = el("button", { type: "button" }, label);
  node.addEventListener("click", act);
  return node;
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
