// The dashboard calls mount() with an empty element that is this widget's alone, and with
// what it offers; every key of the context may be missing.

const STYLE = `
  :host { display: block; height: 100%; border-radius: inherit; overflow: hidden;
    font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29)); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto;
    display: grid; place-content: safe center; text-align: center; }
  p { margin: 0; color: var(--widget-muted, light-dark(#5b6372, #a0a8b8)); }
  strong { font-size: 1.3rem; }
`;

export function mount(element, context = {}) {
  // A shadow root: no style leaks in or out.
  const host = element.appendChild(document.createElement("div"));
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];

  const widget = document.createElement("div");
  widget.className = "widget";
  widget.setAttribute("role", "group");
  widget.setAttribute("aria-label", DISPLAY_NAME);
  const title = document.createElement("strong");
  title.textContent = DISPLAY_NAME;
  const text = document.createElement("p");
  widget.append(title, text);
  root.append(widget);

  // Called again whenever somebody changes the widget's settings.
  function update(config) {
    text.textContent = config.text ?? "It works. Change me in index.js.";
  }
  update(context.config ?? {});

  return { update, unmount: () => host.remove() };
}
