// Time zones: the time in a few places, one a line.
//
// config: { zones: ["Europe/Paris", ...] }

export const manifest = {
  scope: "catalog",
  name: "world-clock",
  version: "1.0.0",
  displayName: "Time zones",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  dl { display: grid; grid-template-columns: 1fr auto; gap: 0.4rem 1rem; margin: 0; }
  dd { margin: 0; font-variant-numeric: tabular-nums; font-weight: 600; }
`;

const ZONES = ["Europe/London", "America/New_York", "Asia/Tokyo"];

export function mount(element, { config = {}, locale } = {}) {
  const root = stage(element, STYLE);
  const list = el("dl");
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Time zones" }, list));

  function tick() {
    const now = new Date();
    list.replaceChildren(...(config.zones ?? ZONES).flatMap((timeZone) => [
      el("dt", {}, timeZone.split("/").at(-1).replaceAll("_", " ")),
      el("dd", {}, now.toLocaleTimeString(locale, {
        hour: "2-digit", minute: "2-digit", timeZone,
      })),
    ]));
  }

  tick();
  const timer = setInterval(tick, 10_000);

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
