// Notes: a sheet to write on, kept by the host (permission "storage").

export const manifest = {
  scope: "home",
  name: "notes",
  version: "2.0.0",
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
    --accent: var(--widget-accent, light-dark(#7a5c00, #f0cf6b)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { padding: 0; background: light-dark(#fff6c9, #3a3520); }
  textarea { box-sizing: border-box; width: 100%; height: 100%; padding: 1rem; border: 0;
    background: none; color: inherit; font: inherit; resize: none; }
  textarea:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
`;

const SAVE_AFTER_MS = 400;

export function mount(element, { storage } = {}) {
  const root = stage(element, STYLE);
  const sheet = el("textarea", { "aria-label": "Note", placeholder: "Write something…" });
  sheet.value = storage?.get("text") ?? "";
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Notes" }, sheet));

  const save = () => storage?.set("text", sheet.value);
  let timer;
  sheet.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(save, SAVE_AFTER_MS);
  });

  return {
    unmount() {
      clearTimeout(timer);
      save();
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
