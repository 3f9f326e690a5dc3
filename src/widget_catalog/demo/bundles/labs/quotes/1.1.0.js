// Quotes: a thought for the day, and others when you ask for them.
//
// config: { quotes: [text or { text, by }, ...] }

export const manifest = {
  scope: "labs",
  name: "quotes",
  version: "1.1.0",
  displayName: "Quotes – ein Gedanke für heute",
  sdkVersion: "1.x || 2.x",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#7a4a2b, #e3b48f)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { position: relative; display: flex; flex-direction: column; justify-content: safe center;
    align-items: center; gap: 0.6rem; text-align: center;
    background: light-dark(#faf5ee, #26211d); }
  .mark { color: var(--accent); font: 700 clamp(2.5rem, 20cqmin, 5rem)/0.6 Georgia, serif;
    height: 0.35em; }
  blockquote { margin: 0; max-width: 34ch; text-wrap: balance;
    font: italic clamp(1rem, 7.5cqmin, 2rem)/1.45 Georgia, serif; }
  cite { color: var(--muted); font-size: 0.9rem; font-style: normal; }
  cite:empty { display: none; }
  button { padding: 0.25rem 0.7rem; border: 1px solid var(--line); border-radius: 0.5rem;
    background: none; color: inherit; font: inherit; cursor: pointer; }
  button:hover { border-color: var(--accent); }
  button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  button { border-radius: 2rem; font-size: 0.8rem; color: var(--muted); }
`;

const QUOTES = [
  "A short list that gets done beats a long one that gets longer.",
  "Most hurry is a late decision.",
  "Name a thing well and half of its manual is written.",
  "The best time to write it down was before you forgot it.",
  "What is easy to undo is easy to try.",
  "Wer leise fragt, hört die bessere Antwort.",
  "Un petit pas, mais dans le bon sens.",
  "Nobody misses the feature that made the other nine confusing.",
  "A tidy desk is a letter to tomorrow.",
];
const DAY_MS = 86_400_000;

export function mount(element, context = {}) {
  const { now = () => new Date() } = context;
  let quotes;
  let turns;
  const root = stage(element, STYLE);
  const blockquote = el("blockquote", { "aria-live": "polite" });
  const cite = el("cite");
  const next = el("button", { type: "button" }, "Another one");
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Quotes" },
    el("div", { class: "mark", "aria-hidden": "true" }, "“"), blockquote, cite, next));

  function draw() {
    const day = Math.floor(now().getTime() / DAY_MS);
    const quote = quotes[(day + turns) % quotes.length];
    const { text, by = "" } = typeof quote === "string" ? { text: quote } : quote;
    // Writing the same text again would make screen readers repeat it.
    if (blockquote.textContent !== text) blockquote.textContent = text;
    cite.textContent = by;
  }

  function update(config) {
    quotes = config.quotes?.length ? config.quotes : QUOTES;
    turns = 0;
    next.hidden = quotes.length < 2;
    draw();
  }

  next.addEventListener("click", () => {
    turns += 1;
    draw();
  });
  update(context.config ?? {});
  const timer = setInterval(draw, 60_000);

  return {
    update,
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
