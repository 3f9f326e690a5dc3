// @ts-check
// How much of the day, week, month or year has passed.
//
// config: { span: "day" | "week" | "month" | "year", title, color: "#rrggbb", hasDots }

/** @typedef {"day" | "week" | "month" | "year"} SpanName */
/** @typedef {{ start: Date, end: Date, dots: number }} Span A stretch of time, and how it is drawn. */

const REFRESH_MS = 20_000;

const STYLE = `
  :host { display: block; height: 100%; container-type: size; border-radius: inherit;
    overflow: hidden; font: 1rem/1.3 var(--widget-font, system-ui, sans-serif);
    color: var(--widget-text, light-dark(#1f2430, #e8eaf0));
    background: var(--widget-surface, light-dark(#ffffff, #1b1f29));
    --muted: var(--widget-muted, light-dark(#5b6372, #a0a8b8));
    --line: var(--widget-line, light-dark(#e1e5ec, #363d4c));
    --tone: var(--color, var(--widget-accent, #2f7d6b));
    /* Any color can be read on any ground: it is made darker on light, lighter on dark. */
    --accent: light-dark(color-mix(in oklab, var(--tone) 85%, black),
      color-mix(in oklab, var(--tone) 62%, white)); }
  .widget { box-sizing: border-box; display: flex; flex-direction: column; height: 100%;
    gap: clamp(0.4rem, 4cqmin, 1rem); padding: clamp(0.7rem, 6cqmin, 1.4rem); }
  header { display: flex; align-items: baseline; justify-content: space-between; gap: 1rem;
    min-width: 0; }
  h2, p { overflow: hidden; margin: 0; font-size: clamp(0.8rem, 5cqmin, 1rem); text-overflow: ellipsis;
    white-space: nowrap; }
  h2 { font-weight: 600; }
  p { flex: none; color: var(--muted); font-variant-numeric: tabular-nums; }
  .figure { font-size: clamp(1.6rem, 17cqmin, 4rem); font-weight: 300; letter-spacing: -0.03em;
    line-height: 1; font-variant-numeric: tabular-nums; }
  .figure small { font-size: 0.5em; letter-spacing: 0; color: var(--muted); }
  .dots { flex: 1; display: grid; grid-template-columns: repeat(var(--columns), 1fr);
    gap: min(0.35rem, 1.2cqmin); min-height: 0; align-content: stretch; }
  .dots i { min-width: 0; min-height: 0; border-radius: min(0.3rem, 30%); background: var(--line); }
  .dots .passed { background: var(--accent); }
  .dots .now { background:
    linear-gradient(90deg, var(--accent) var(--share), var(--line) var(--share)); }
  .bar { height: clamp(0.35rem, 3cqmin, 0.7rem); border-radius: 1rem; background: var(--line);
    overflow: hidden; }
  .bar i { display: block; width: var(--passed); height: 100%; border-radius: inherit;
    background: var(--accent); }
  .dots + .bar { display: none; }
  .widget:not(:has(.dots)) { justify-content: center; }
  @container (max-height: 8rem) { /* Dots would be too small to be seen. */
    .dots, p { display: none; }
    .dots + .bar { display: block; }
    .widget { justify-content: center; }
  }
  @media (prefers-reduced-motion: no-preference) { .bar i { transition: width 0.6s; } }
`;

/** @type {import("./widget.d.ts").Mount} */
export function mount(element, context = {}) {
  const { locale, now = () => new Date() } = context;
  const host = element.appendChild(document.createElement("div"));
  const root = host.attachShadow({ mode: "open" }); // No style leaks in or out.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  const widget = make("div", { className: "widget" });
  widget.setAttribute("role", "group");
  root.append(widget);
  let config = context.config ?? {};

  function draw() {
    const name = isSpan(config.span) ? config.span : "year";
    const span = spanAround(name, now());
    const share = (Number(now()) - Number(span.start)) / (Number(span.end) - Number(span.start));
    const title = String(config.title || titleOf(name, span, locale));
    widget.setAttribute("aria-label", title);
    const color = String(config.color);
    host.style.setProperty("--color", /^#[0-9a-f]{6}$/i.test(color) ? color : "");
    widget.replaceChildren(
      make("header", {}, [
        make("h2", { textContent: title }),
        make("p", { textContent: left(name, span, now(), locale) }),
      ]),
      make("div", { className: "figure" }, [
        String(Math.floor(share * 100)), make("small", { textContent: " %" }),
      ]),
      ...(config.hasDots === false ? [] : [dots(span, share)]),
      bar(share),
    );
  }

  draw();
  const timer = setInterval(draw, REFRESH_MS);
  return {
    update(next) {
      config = next;
      draw();
    },
    unmount() {
      clearInterval(timer);
      host.remove();
    },
  };
}

/** @returns {name is SpanName} @param {unknown} name */
function isSpan(name) {
  return name === "day" || name === "week" || name === "month" || name === "year";
}

/** @param {SpanName} name @param {Date} now @returns {Span} */
function spanAround(name, now) {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  if (name === "day") {
    return { start: new Date(year, month, day), end: new Date(year, month, day + 1), dots: 24 };
  }
  if (name === "week") {
    const monday = day - ((now.getDay() + 6) % 7);
    return { start: new Date(year, month, monday), end: new Date(year, month, monday + 7), dots: 7 };
  }
  const [start, end] = name === "month"
    ? [new Date(year, month, 1), new Date(year, month + 1, 1)]
    : [new Date(year, 0, 1), new Date(year + 1, 0, 1)];
  return { start, end, dots: Math.round((Number(end) - Number(start)) / 86_400_000) };
}

/** @param {SpanName} name @param {Span} span @param {string} [locale] */
function titleOf(name, { start, end }, locale) {
  if (name === "week") {
    const days = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
    return days.formatRange(start, new Date(end.getTime() - 1));
  }
  /** @type {Record<string, Intl.DateTimeFormatOptions>} */
  const looks = {
    day: { weekday: "long", day: "numeric", month: "long" },
    month: { month: "long", year: "numeric" },
    year: { year: "numeric" },
  };
  return new Intl.DateTimeFormat(locale, looks[name]).format(start);
}

/** @param {SpanName} name @param {Span} span @param {Date} now @param {string} [locale] */
function left(name, { end }, now, locale) {
  const unit = name === "day" ? "hour" : "day";
  const unitMs = unit === "hour" ? 3_600_000 : 86_400_000;
  const count = Math.floor((Number(end) - Number(now)) / unitMs);
  const counted = new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" });
  return `${counted.format(count)} left`;
}

/** @param {Span} span @param {number} share */
function dots({ dots: count }, share) {
  const current = Math.floor(share * count);
  const cells = Array.from({ length: count }, (_, at) =>
    make("i", { className: at < current ? "passed" : at === current ? "now" : "" }));
  const grid = make("div", { className: "dots" }, cells);
  grid.setAttribute("aria-hidden", "true"); // The figure says the same.
  grid.style.setProperty("--columns", String(count > 100 ? 31 : Math.min(count, 8)));
  grid.style.setProperty("--share", `${(share * count - current) * 100}%`);
  return grid;
}

/** @param {number} share */
function bar(share) {
  const track = make("div", { className: "bar" }, [make("i")]);
  track.setAttribute("aria-hidden", "true");
  track.style.setProperty("--passed", `${share * 100}%`);
  return track;
}

/** Text goes in as text, never as markup.
 * @param {string} tag
 * @param {Record<string, string>} [properties]
 * @param {(Node | string)[]} [children] */
function make(tag, properties = {}, children = []) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}
