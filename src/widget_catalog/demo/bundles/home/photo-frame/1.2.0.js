// Photo frame: a slow slide show of your pictures, or of drawn landscapes.
//
// config: { photos: [{ src, alt }, ...], seconds }; the dashboard fetches the pictures.

export const manifest = {
  scope: "home",
  name: "photo-frame",
  version: "1.2.0",
  displayName: "Photo frame",
  sdkVersion: "^2.2.0",
};

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.4 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29)); }
  .widget { box-sizing: border-box; height: 100%; overflow: auto;
    padding: clamp(0.6rem, 6cqmin, 1.25rem); }
  .widget { position: relative; padding: 0; overflow: hidden; }
  .picture { height: 100%; animation: appear 1.2s; }
  .picture > * { display: block; width: 100%; height: 100%; object-fit: cover; }
  .foot { position: absolute; inset: auto 0 0; display: flex; align-items: end; gap: 0.4rem;
    padding: 2.2rem 0.8rem 0.6rem; color: #fff; background: linear-gradient(#0000, #000b); }
  .foot span { flex: 1; font-size: 0.9rem; text-shadow: 0 1px 2px #000; }
  button { width: 1.9rem; height: 1.9rem; padding: 0; border: 0; border-radius: 50%; color: #fff;
    background: #0008; font: inherit; cursor: pointer; }
  button:hover { background: #000c; }
  button:focus-visible { outline: 2px solid #fff; outline-offset: 2px; }
  @container (max-width: 15rem) { .foot span { font-size: 0.75rem; } }
  @keyframes appear { from { opacity: 0; } }
  @media (prefers-reduced-motion: reduce) { .picture { animation: none; } }
`;

// Sky from top to bottom, sun or moon, hills from far to near.
const SCENES = [
  { alt: "Hills in the morning", sky: ["#7fb2d9", "#fbe3bd"], disc: [112, 34, 10, "#fff6dc"],
    hills: ["#b9a3a8", "#857a92", "#4d5070", "#2e3450"] },
  { alt: "The blue hour", sky: ["#141c3f", "#5d6fae"], disc: [40, 24, 7, "#f2f0e4"],
    hills: ["#3d4c86", "#2c3869", "#1d264c", "#121832"] },
  { alt: "Late light in the desert", sky: ["#e2604a", "#fcd08a"], disc: [84, 52, 14, "#fff0c2"],
    hills: ["#d98a5c", "#b9603f", "#86402f", "#532723"] },
];

export function mount(element, context = {}) {
  let photos;
  let position = 0;
  let seconds;
  let timer;
  const root = stage(element, STYLE);
  let picture = el("div");
  const caption = el("span");
  const back = button("Previous picture", "‹");
  const play = button("Pause", "‖");
  const ahead = button("Next picture", "›");
  root.append(el("div", { class: "widget", role: "group", "aria-label": "Photo frame" }, picture,
    el("div", { class: "foot" }, caption, back, play, ahead)));

  function show(step) {
    position = (position + step + photos.length) % photos.length;
    const { src, alt = "Photo" } = photos[position];
    // A new element every time, so that the fade starts over.
    const next = el("div", { class: "picture" });
    picture.replaceWith(next);
    picture = next;
    caption.textContent = alt;
    if (!src) return next.append(landscape(photos[position]));
    load(src).then((image) => next.append(image), () => {
      if (picture === next) caption.textContent = `${alt}: cannot be shown`;
      next.append(landscape(SCENES[0]));
    });
  }

  async function load(address) {
    const src = URL.createObjectURL(await context.fetchImage(address));
    const image = el("img", { src, alt: "" });
    await image.decode().finally(() => URL.revokeObjectURL(src));
    return image;
  }

  function setPlaying(isPlaying) {
    clearInterval(timer);
    timer = isPlaying ? setInterval(show, seconds * 1000, 1) : undefined;
    play.textContent = isPlaying ? "‖" : "▶";
    play.setAttribute("aria-label", isPlaying ? "Pause" : "Play");
  }

  function update(config) {
    photos = config.photos?.length ? config.photos : SCENES;
    seconds = Math.max(3, config.seconds ?? 12);
    position = 0;
    show(0);
    setPlaying(photos.length > 1);
  }

  back.addEventListener("click", () => show(-1));
  ahead.addEventListener("click", () => show(1));
  play.addEventListener("click", () => setPlaying(timer === undefined));
  update(context.config ?? {});

  return {
    update,
    unmount() {
      clearInterval(timer);
      root.host.remove();
    },
  };
}

const button = (label, sign) => el("button", { type: "button", "aria-label": label }, sign);

function landscape({ sky: [top, low], disc: [cx, cy, r, light], hills }) {
  return svg("svg", { viewBox: "0 0 160 100", preserveAspectRatio: "xMidYMid slice",
    "aria-hidden": "true" },
    svg("linearGradient", { id: "sky", x2: 0, y2: 1 },
      svg("stop", { "stop-color": top }), svg("stop", { offset: 1, "stop-color": low })),
    svg("rect", { width: 160, height: 100, fill: "url(#sky)" }),
    svg("circle", { cx, cy, r, fill: light }),
    ...hills.map((fill, index) => svg("path", { fill, d: ridge(index) })));
}

/** The outline of a chain of hills: two waves laid over each other. */
function ridge(index) {
  const height = (x) => 56 + index * 11 + (7 - index) * Math.sin(x / (17 + index * 5) + index * 2)
    + 2.5 * Math.sin(x / 6 + index * 4);
  const points = Array.from({ length: 81 }, (_, i) => `${i * 2} ${height(i * 2).toFixed(1)}`);
  return `M0 100L${points.join("L")}L160 100z`;
}

/** Puts a shadow root into the element, so that no style leaks in or out. */
function stage(element, css) {
  const root = element.appendChild(document.createElement("div")).attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [sheet];
  return root;
}

const SVG = "http://www.w3.org/2000/svg";
const el = (tag, ...rest) => dress(document.createElement(tag), ...rest);
const svg = (tag, ...rest) => dress(document.createElementNS(SVG, tag), ...rest);

/** Gives a node attributes and children; these are nodes or plain text, never markup. */
function dress(node, attributes = {}, ...children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
