// 時計: time and date in Japanese numerals, from top to bottom where there is height.
//
// config: { timeZone }

export const manifest = {
  scope: "labs",
  name: "tokei",
  version: "1.1.0",
  displayName: "時計",
  sdkVersion: ">=1.2 <3",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#b3202c, #ff8f8f)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { position: relative; display: flex; align-items: center; justify-content: center;
    gap: 6cqmin;
    flex-direction: column;
    background: light-dark(#fbf8f1, #1f1d1b);
    font-family: "Hiragino Mincho ProN", "Yu Mincho", "Noto Serif CJK JP", serif; }
  time { font-size: min(9cqw, 30cqh); line-height: 1.25; white-space: nowrap; }
  .date { color: var(--muted); font-size: min(5cqw, 14cqh); white-space: nowrap; }
  .seal { position: absolute; right: 4cqmin; bottom: 4cqmin; width: 1.4em; aspect-ratio: 1;
    display: grid; place-items: center; border-radius: 0.2em; background: #b3202c; color: #fff;
    font-size: clamp(0.8rem, 7cqmin, 1.6rem); line-height: 1; }
  @container (max-aspect-ratio: 11/10) {
    .widget { flex-direction: row-reverse; }
    time, .date { writing-mode: vertical-rl; letter-spacing: 0.08em; }
    time { font-size: min(8.5cqh, 24cqw); }
    .date { font-size: min(5cqh, 13cqw); }
  }
`;

const WEEKDAYS = ["日", "月", "火", "水", "木", "金", "土"];

export function mount(element, context = {}) {
  const { now = () => new Date() } = context;
  let timeZone = context.config?.timeZone;
  const root = stage(element, STYLE);
  const time = el("time");
  const date = el("span", { class: "date" });
  const seal = el("span", { class: "seal", "aria-hidden": "true" });
  root.append(el("div", { class: "widget", role: "group", "aria-label": "時計", lang: "ja" },
    time, date, seal));

  function tick() {
    const there = inZone(now(), timeZone);
    const hour = there.getUTCHours();
    const weekday = WEEKDAYS[there.getUTCDay()];
    time.textContent = `${hour < 12 ? "午前" : "午後"}${numeral(hour % 12)}時${
      numeral(there.getUTCMinutes())}分`;
    date.textContent = `${numeral(there.getUTCMonth() + 1)}月${
      numeral(there.getUTCDate())}日 ${weekday}曜日`;
    seal.textContent = weekday;
  }

  tick();
  const timer = setInterval(tick, 1000);

  return {
    update(config) {
      timeZone = config.timeZone;
      tick();
    },
    unmount() {
      clearInterval(timer);
      root.host.remove();
    },
  };
}

/** A Date whose UTC fields read like the clock in that time zone. */
function inZone(moment, timeZone) {
  return new Date(`${moment.toLocaleString("sv-SE", { timeZone }).replace(" ", "T")}Z`);
}

/** 0 to 59 in words: 25 is 二十五, two tens and five. */
function numeral(number) {
  const digits = ["", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
  const tens = Math.floor(number / 10);
  if (number === 0) return "零";
  return (tens > 1 ? digits[tens] : "") + (tens > 0 ? "十" : "") + digits[number % 10];
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
