// 時計: the time in Japanese numerals, for example 午後三時二十五分.

export const manifest = {
  scope: "labs",
  name: "tokei",
  version: "1.0.0",
  displayName: "時計",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  .widget { display: grid; place-content: center; text-align: center; }
  time { font: min(11cqi, 40cqb)/1.2 "Hiragino Mincho ProN", "Yu Mincho",
    "Noto Serif CJK JP", serif; }
`;

export function mount(element) {
  const root = stage(element, STYLE);
  const time = el("time", { lang: "ja" });
  root.append(el("div", { class: "widget", role: "group", "aria-label": "時計" }, time));

  function tick() {
    const now = new Date();
    const half = now.getHours() < 12 ? "午前" : "午後";
    time.textContent = `${half}${numeral(now.getHours() % 12)}時${numeral(now.getMinutes())}分`;
  }

  tick();
  const timer = setInterval(tick, 1000);

  return {
    unmount() {
      clearInterval(timer);
      root.host.remove();
    },
  };
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
