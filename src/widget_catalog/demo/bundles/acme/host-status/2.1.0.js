// Host status: machines, their load as bars, and a summary that says what is wrong.
//
// config: { url, seconds }: where to ask, through the host (permission "network")
// data.hosts: [{ name, state: "up" | "busy" | "down", cpu, memory, disk }], shares from 0 to 1

export const manifest = {
  scope: "acme",
  name: "host-status",
  version: "2.1.0",
  displayName: "Host status",
  sdkVersion: "^2.1.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --accent: var(--widget-accent, light-dark(#34568b, #9fbdf0)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { display: flex; flex-direction: column; gap: 0.6rem; }
  h2 { margin: 0; font-size: 1rem; }
  .hosts { display: grid; gap: 0.6rem;
    grid-template-columns: repeat(auto-fill, minmax(min(12rem, 100%), 1fr)); }
  article { padding: 0.6rem 0.75rem; border: 1px solid var(--line); border-radius: 0.6rem; }
  h3 { display: flex; align-items: center; gap: 0.5rem; margin: 0 0 0.3rem; font-size: 0.95rem; }
  h3 span { margin-left: auto; font-size: 0.8rem; font-weight: 400; color: var(--state); }
  h3::before { content: ""; width: 0.6rem; aspect-ratio: 1; border-radius: 50%;
    background: var(--state); }
  .up { --state: light-dark(#1d7a3a, #6fdc8f); }
  .busy { --state: light-dark(#8a5a00, #f2c063); }
  .down { --state: light-dark(#b3261e, #ff8f82); border-color: var(--state); }
  .load { display: grid; grid-template-columns: 4rem 1fr 2.6rem; gap: 0.5rem; align-items: center;
    font-size: 0.8rem; color: var(--muted); }
  .load b { font-weight: 400; text-align: right; font-variant-numeric: tabular-nums; }
  .bar { height: 0.35rem; border-radius: 1rem; background: var(--line); overflow: hidden; }
  .fill { height: 100%; background: var(--accent); }
  .full .fill { background: light-dark(#c0392b, #ff8f82); }
`;

const FULL = 0.9;

export function mount(element, context = {}) {
  const { data = {}, locale } = context;
  let hosts = data.hosts ?? [];
  let problem = null;
  let timer;
  const root = stage(element, STYLE);
  const summary = el("h2", { role: "status" });
  const list = el("div", { class: "hosts" });
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Host status" },
    summary, list));

  function load([label, share]) {
    const text = share.toLocaleString(locale, { style: "percent" });
    const fill = el("div", { class: "fill" });
    fill.style.width = `${Math.min(1, share) * 100}%`;
    return el("div", { class: share >= FULL ? "load full" : "load" },
      el("span", {}, label),
      el("div", { class: "bar", role: "meter", "aria-label": label, "aria-valuemin": 0,
        "aria-valuemax": 1, "aria-valuenow": share, "aria-valuetext": text }, fill),
      el("b", { "aria-hidden": "true" }, text));
  }

  function card({ name, state, cpu, memory, disk }) {
    const look = ["up", "busy"].includes(state) ? state : "down";
    const loads = Object.entries({ CPU: cpu, Memory: memory, Disk: disk });
    return el("article", { class: look },
      el("h3", {}, name, el("span", {}, state)),
      ...loads.filter(([, share]) => share !== undefined).map(load));
  }

  function draw() {
    summary.textContent = problem ?? inWords(hosts);
    list.replaceChildren(...hosts.map(card));
  }

  async function ask(url) {
    try {
      hosts = await context.fetchJson(url);
      problem = null;
    } catch {
      problem = "Could not ask; showing the last known state.";
    }
    if (root.host.isConnected) draw();
  }

  function update({ url, seconds = 30 }) {
    clearInterval(timer);
    if (url && context.fetchJson) {
      timer = setInterval(ask, Math.max(5, seconds) * 1000, url);
      ask(url);
    }
    draw();
  }

  update(context.config ?? {});
  const stop = context.watch?.("hosts", (next) => {
    hosts = next;
    draw();
  });

  return {
    update,
    unmount() {
      clearInterval(timer);
      stop?.();
      root.host.remove();
    },
  };
}

function inWords(hosts) {
  if (hosts.length === 0) return "No hosts yet: the dashboard offers none.";
  const down = hosts.filter(({ state }) => state === "down").map(({ name }) => name);
  if (down.length > 0) return `${down.join(", ")} ${down.length === 1 ? "is" : "are"} down`;
  return `All ${hosts.length} hosts are up`;
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
