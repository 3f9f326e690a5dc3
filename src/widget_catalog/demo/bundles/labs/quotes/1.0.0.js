// Quotes: a thought for the day, the same one all day long.
//
// config: { quotes: [text, ...] }

export const manifest = {
  scope: "labs",
  name: "quotes",
  version: "1.0.0",
  displayName: "Quotes – ein Gedanke für heute",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  .widget { display: grid; place-content: center; }
  blockquote { margin: 0; font: italic clamp(1rem, 7cqmin, 1.8rem)/1.5 Georgia, serif;
    text-align: center; text-wrap: balance; }
`;

const QUOTES = [
  "A short list that gets done beats a long one that gets longer.",
  "Most hurry is a late decision.",
  "Name a thing well and half of its manual is written.",
  "The best time to write it down was before you forgot it.",
  "What is easy to undo is easy to try.",
];

export function mount(element, { config = {} } = {}) {
  const root = stage(element, STYLE);
  const quotes = config.quotes?.length ? config.quotes : QUOTES;
  const blockquote = el("blockquote");
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Quotes" }, blockquote));

  function draw() {
    const day = Math.floor(Date.now() / 86_400_000);
    blockquote.textContent = quotes[day % quotes.length];
  }

  draw();
  const timer = setInterval(draw, 60_000);

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
