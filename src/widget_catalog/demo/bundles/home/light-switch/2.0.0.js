// Light switch: the lights of a room, each on or off.
//
// config: { title, lights: ["light.desk", ...] }; without lights: all.

export const manifest = {
  scope: "home",
  name: "light-switch",
  version: "2.0.0",
  displayName: "Light switch",
  sdkVersion: "^2.2.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#8a6100, #ffd56b)); }
  .widget { display: flex; flex-direction: column; gap: 0.6rem; box-sizing: border-box;
    height: 100%; padding: clamp(0.6rem, 6cqmin, 1.25rem); overflow: auto; }
  h2, p { margin: 0; font-size: 1rem; }
  p { color: var(--muted); font-size: 0.85rem; }
  div div { display: grid; gap: 0.5rem;
    grid-template-columns: repeat(auto-fill, minmax(7rem, 1fr)); }
  button { display: flex; align-items: center; gap: 0.5rem; padding: 0.7rem; border: 0;
    border-radius: 0.7rem; color: inherit; background: var(--line); font: inherit;
    text-align: start; cursor: pointer; }
  button::before { content: ""; flex: none; width: 0.8rem; aspect-ratio: 1; border-radius: 50%;
    border: 2px solid; box-sizing: border-box; }
  button[aria-checked="true"]::before { border-color: var(--accent); background: var(--accent);
    box-shadow: 0 0 0.6rem var(--accent); }
  button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  button:disabled { cursor: default; }
`;

/** Version 1 of the settings had one light. */
export function migrate({ light, ...config }, fromConfigVersion) {
  return fromConfigVersion === 1 && light ? { ...config, lights: [light] } : config;
}

export function mount(element, context = {}) {
  const { states, watchStates, call } = context;
  const root = stage(element, STYLE);
  const title = el("h2", { id: "title" });
  const list = el("div");
  const status = el("p", { role: "status" });
  root.append(el("div", { class: "widget", role: "group", "aria-labelledby": "title" }, title, list,
    status));
  const switches = new Map(); // By entity.
  let lights;

  function show(some) {
    for (const { entity, state, attributes } of some) {
      if (lights.length && !lights.includes(entity)) continue;
      if (!switches.has(entity)) switches.set(entity, list.appendChild(switchOf(entity)));
      const toggle = switches.get(entity);
      toggle.textContent = attributes?.name ?? entity;
      toggle.setAttribute("aria-checked", state === "on");
    }
    status.textContent = switches.size ? "" : "This dashboard has no lights to switch.";
  }

  function switchOf(entity) {
    const toggle = el("button", { type: "button", role: "switch" });
    toggle.disabled = !call;
    toggle.addEventListener("click", () => {
      const isOn = toggle.getAttribute("aria-checked") === "true";
      call(isOn ? "light.turn_off" : "light.turn_on", { entity })
        .then(read, (error) => (status.textContent = `Not switched: ${error.message}`));
    });
    return toggle;
  }

  async function read() {
    show((await states?.("light.*").catch(() => [])) ?? []);
  }

  function update(config) {
    title.textContent = config.title ?? "Lights";
    lights = config.lights ?? [];
    switches.clear();
    list.replaceChildren();
    read();
  }

  const stop = watchStates?.("light.*", (changed) => show(changed));
  update(context.config ?? {});

  return {
    update,
    unmount() {
      stop?.();
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
