// Door lock: whether a door is locked.
//
// config: { lock: "lock.front_door" }; without: the first lock.

export const manifest = {
  scope: "home",
  name: "door-lock",
  version: "1.0.0",
  displayName: "Door lock",
  sdkVersion: "^2.2.0",
};

const STYLE = `
  :host { display: block; height: 100%; border-radius: inherit; overflow: hidden;
    font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29)); }
  .widget { display: grid; place-content: safe center; box-sizing: border-box; height: 100%;
    padding: 0.9rem; overflow: auto; text-align: center; }
`;

export function mount(element, context = {}) {
  const { states, watchStates } = context;
  const host = element.appendChild(document.createElement("div"));
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  const widget = root.appendChild(document.createElement("div"));
  widget.className = "widget";
  widget.setAttribute("role", "group");
  widget.setAttribute("aria-label", "Door lock");
  let pattern;
  let stop = () => {};

  async function read() {
    const [lock] = (await states?.(pattern).catch(() => [])) ?? [];
    const name = lock?.attributes?.name ?? lock?.entity;
    const state = lock?.state === "locked" ? "locked" : "open";
    widget.textContent = lock ? `${name}: ${state}` : "This dashboard has no lock to show.";
  }

  function update(config) {
    stop();
    pattern = config.lock ?? "lock.*";
    stop = watchStates?.(pattern, read) ?? stop;
    widget.textContent = "…";
    read();
  }

  update(context.config ?? {});

  return {
    update,
    unmount() {
      stop();
      host.remove();
    },
  };
}
