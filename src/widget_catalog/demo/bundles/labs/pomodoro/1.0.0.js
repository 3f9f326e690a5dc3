// Pomodoro: twenty-five minutes, to start and to stop.

export const manifest = {
  scope: "labs",
  name: "pomodoro",
  version: "1.0.0",
  displayName: "Pomodoro",
  sdkVersion: "^1.0.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 system-ui, sans-serif;
    color: light-dark(#1f2430, #e8eaf0); background: light-dark(#ffffff, #1b1f29); }
  .widget { box-sizing: border-box; height: 100%; padding: 0.9rem; overflow: auto; }
  .widget { display: grid; place-content: center; justify-items: center; gap: 0.6rem; }
  [role="timer"] { font-size: min(24cqi, 45cqb); line-height: 1;
    font-variant-numeric: tabular-nums; }
  button { font: inherit; padding: 0.3rem 0.9rem; }
`;

const WORK_SECONDS = 25 * 60;

export function mount(element) {
  const root = stage(element, STYLE);
  const figure = el("div", { role: "timer" });
  const button = el("button", { type: "button" });
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Pomodoro" },
    figure, button));
  let left = WORK_SECONDS;
  let timer;

  function draw() {
    const seconds = String(left % 60).padStart(2, "0");
    figure.textContent = left === 0 ? "Done!" : `${Math.floor(left / 60)}:${seconds}`;
    button.textContent = timer === undefined ? "Start" : "Stop";
  }

  function stop() {
    clearInterval(timer);
    timer = undefined;
  }

  button.addEventListener("click", () => {
    if (timer === undefined) {
      left = WORK_SECONDS;
      timer = setInterval(() => {
        left -= 1;
        if (left === 0) stop();
        draw();
      }, 1000);
    } else {
      stop();
    }
    draw();
  });
  draw();

  return {
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
