// Notes: a sheet in the colour you like, kept by the host (permission "storage").
//
// config: { title, paper: "yellow" | "rose" | "mint" | "sky" }

export const manifest = {
  scope: "home",
  name: "notes",
  version: "2.1.0",
  displayName: "Notes",
  sdkVersion: "^2.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#6b5200, #f0d98c)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: grid; grid-template-rows: auto 1fr auto; padding: 0; background: var(--paper);
    --line: light-dark(#0000001f, #ffffff24); --muted: light-dark(#57503a, #c9c4b4); }
  .yellow { --paper: light-dark(#fff3bf, #3b3620); }
  .rose { --paper: light-dark(#ffe3e6, #3f282d); }
  .mint { --paper: light-dark(#ddf5e3, #22382b); }
  .sky { --paper: light-dark(#dceeff, #21324a); }
  h2 { margin: 0; padding: 0.75rem 1rem 0.25rem; font-size: 1rem; }
  textarea { box-sizing: border-box; width: 100%; padding: 0 1rem; border: 0; color: inherit;
    font: inherit; line-height: 1.6rem; resize: none;
    background: repeating-linear-gradient(transparent 0 calc(1.6rem - 1px),
      var(--line) calc(1.6rem - 1px) 1.6rem) local; }
  textarea::placeholder { color: var(--muted); }
  textarea:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
  footer { display: flex; justify-content: space-between; padding: 0.35rem 1rem;
    color: var(--muted); font-size: 0.75rem; }
  @container (max-height: 9rem) { footer { display: none; } }
`;

const SAVE_AFTER_MS = 400;

export function mount(element, context = {}) {
  const { storage, locale } = context;
  const root = stage(element, STYLE);
  const title = el("h2", { id: "title" });
  const sheet = el("textarea", { "aria-labelledby": "title", placeholder: "Write something…",
    spellcheck: "true" });
  const count = el("span");
  const state = el("span", { role: "status" });
  const widget = el("div", { role: "group", "aria-labelledby": "title" },
    title, sheet, el("footer", {}, count, state));
  root.append(widget);
  let timer;

  function showCount() {
    const words = sheet.value.match(/\S+/g)?.length ?? 0;
    count.textContent = `${words.toLocaleString(locale)} ${words === 1 ? "word" : "words"}`;
  }

  function save() {
    clearTimeout(timer);
    timer = undefined;
    storage?.set("text", sheet.value);
    state.textContent = storage ? "Saved" : "Not kept: the host has no storage";
  }

  function update(config) {
    const paper = ["yellow", "rose", "mint", "sky"].find((name) => name === config.paper);
    widget.className = `widget ${paper ?? "yellow"}`;
    title.textContent = config.title || "Notes";
  }

  sheet.addEventListener("input", () => {
    showCount();
    state.textContent = "";
    clearTimeout(timer);
    timer = setTimeout(save, SAVE_AFTER_MS);
  });
  sheet.value = storage?.get("text") ?? "";
  showCount();
  update(context.config ?? {});

  return {
    update,
    unmount() {
      if (timer !== undefined) save();
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
