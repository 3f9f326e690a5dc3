// Light switch: one light, on or off.
//
// config: { light: "light.desk" }

export const manifest = {
  scope: "home",
  name: "light-switch",
  version: "1.0.0",
  displayName: "Light switch",
  sdkVersion: "^2.2.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --accent: var(--widget-accent, light-dark(#8a6100, #ffd56b)); }
  .widget { display: grid; align-content: center; gap: 0.4rem; box-sizing: border-box;
    height: 100%; padding: 0.9rem; overflow: auto; text-align: center; }
  button { padding: 0.6rem; border: 2px solid; border-radius: 0.6rem; color: inherit;
    background: none; font: inherit; cursor: pointer; }
  button[aria-checked="true"] { color: var(--accent); }
  p { margin: 0; font-size: 0.85rem; }
`;

export function mount(element, context = {}) {
  const { states, watchStates, call } = context;
  const root = stage(element, STYLE);
  const toggle = el("button", { type: "button", role: "switch" });
  const status = el("p", { role: "status" });
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Light switch" }, toggle,
    status));
  let pattern;
  let light;
  let stop = () => {};

  function show([it]) {
    if (it) light = it;
    toggle.hidden = !light;
    status.textContent = light ? "" : "This dashboard has no light to switch.";
    if (!light) return;
    toggle.textContent = light.attributes?.name ?? light.entity;
    toggle.setAttribute("aria-checked", light.state === "on");
    toggle.disabled = !call;
  }

  async function read() {
    const found = await states?.(pattern).catch(() => []);
    show(found ?? []);
  }

  function update(config) {
    stop();
    light = undefined;
    pattern = config.light ?? "light.*";
    stop = watchStates?.(pattern, read) ?? stop;
    return read();
  }

  toggle.addEventListener("click", () =>
    call(light.state === "on" ? "light.turn_off" : "light.turn_on", { entity: light.entity })
      .then(read, (error) => (status.textContent = `Not switched: ${error.message}`)));
  update(context.config ?? {});

  return {
    update,
    unmount() {
      stop();
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
