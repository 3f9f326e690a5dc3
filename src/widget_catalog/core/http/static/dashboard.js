// A small dashboard, kept in this browser alone. It uses the catalog's own client as any other
// dashboard would, and runs each widget in its sandbox, with sample data.
import { Catalog } from "./client.js";
import { FRAME } from "./frame.js";
import { canStartAlone } from "./preview.js";
import { sampleHost } from "./sample-host.js";
import { mount } from "./sandbox.js";

const SDK = "2.2.0"; // What sampleHost() offers to widgets.
const catalog = new Catalog(new URL("../..", import.meta.url)); // Where this page comes from.

/** Widgets that match; `latestCompatibleVersion` is the one that would run here, or null. */
async function search(text) {
  return (await catalog.search({ q: text, compatSdk: SDK, limit: 12 })).widgets;
}

/** Runs the version that fits: the first time it is an install, later perhaps an update. */
async function run(tile, installed) {
  const { scope, name, permissions } = tile.saved.version;
  // It gets the sample data alone, so everything that it asked for is granted.
  tile.widget = await mount(tile.place, {
    catalog, id: `${scope}/${name}`, sdk: SDK, installed, frame: FRAME, grants: permissions,
    host: sampleHost({ stored: tile.stored(), onStore: tile.onStore }),
    scheme: state.scheme, onState: tile.onState, translate: _, signal: tile.removed.signal,
  });
  tile.saved.version = tile.widget.version;
}

const _ = globalThis.translate; // Of site.js.
const KEY = "widget-catalog-dashboard";
const CELL_PX = 96;
const GAP_PX = 12;
const MOST_KEPT = 200_000; // Characters of a widget; its frame takes 64 KB, but has not to be trusted.

const page = document.querySelector("[data-dashboard]");
const grid = page.querySelector(".dash-grid");
const results = page.querySelector(".dash-results");
const none = page.querySelector(".dash-none");
const status = page.querySelector("[role=status]");
const state = read();
const tiles = new Map(); // By their elements.

function read() {
  const usual = document.documentElement.dataset.theme
    ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  try {
    const { scheme, tiles: kept } = JSON.parse(localStorage.getItem(KEY));
    return { scheme: scheme === "dark" ? "dark" : "light", tiles: kept.filter((it) => it.version && it.kept) };
  } catch {
    return { scheme: usual, tiles: [] };
  }
}

function save() {
  state.tiles = [...grid.children].map((element) => tiles.get(element).saved);
  page.classList.toggle("is-empty", state.tiles.length === 0);
  try {
    localStorage.setItem(KEY, JSON.stringify(state));
  } catch {
    announce(_("This browser does not keep the dashboard: its storage is full or switched off."));
  }
}

async function showResults(text) {
  const found = await search(text).catch((fault) => announce(_("The search failed: %(error)s", { error: fault.message })));
  if (!found || text !== input.value.trim()) return; // The input has changed.
  results.replaceChildren(...found.map(card));
  none.hidden = found.length > 0;
}

function card(widget) {
  const version = widget.latestCompatibleVersion;
  const add = make("button", { type: "button", textContent: _("Add"), disabled: version === null });
  add.setAttribute("aria-label", _("Add %(name)s", { name: widget.displayName }));
  add.addEventListener("click", () => install(version));
  const about = version === null ? _("Nothing of it runs on SDK %(sdk)s.", { sdk: SDK }) : widget.description ?? "";
  return make("li", {}, [
    make("strong", { textContent: widget.displayName, dir: "auto" }),
    make("code", { textContent: `${widget.scope}/${widget.name}` }),
    make("p", { textContent: about, dir: "auto" }), add,
  ]);
}

async function install(version) {
  const { minSize, maxSize } = version;
  const size = (axis, usual) => Math.min(maxSize[axis], Math.max(minSize[axis], usual));
  const tile = new Tile({ version, w: size("w", 3), h: size("h", 3), kept: {} });
  grid.append(tile.element);
  save();
  tile.element.scrollIntoView({ block: "nearest" });
  announce(_("%(name)s was added.", { name: version.displayName }));
  await tile.run();
}

class Tile {
  constructor(saved) {
    this.saved = saved;
    const name = saved.version.displayName;
    this.handle = make("button", { type: "button", className: "dash-handle" });
    this.handle.append(make("span", { textContent: name, dir: "auto" }));
    this.handle.setAttribute("aria-label", _("Move %(name)s", { name }));
    this.handle.setAttribute("aria-describedby", "dash-keys");
    const remove = make("button", { type: "button", className: "dash-remove", textContent: "×" });
    remove.setAttribute("aria-label", _("Remove %(name)s", { name }));
    remove.addEventListener("click", () => this.remove());
    this.place = make("div", { className: "dash-place" });
    this.note = make("p", { className: "dash-note" });
    const corner = make("span", { className: "dash-corner" });
    this.element = make("li", {}, [
      make("div", { className: "dash-bar" }, [this.handle, remove]), this.place, this.note, corner,
    ]);
    this.widget = null; // Until it runs.
    this.removed = new AbortController();
    this.handle.addEventListener("keydown", (event) => this.#onKey(event));
    follow(this.handle, this.element, (event) => this.#drag(event));
    follow(corner, this.element, (event) => this.#stretch(event));
    tiles.set(this.element, this);
    this.resize(saved.w, saved.h);
  }

  onState = (now, sentence) => {
    this.note.textContent = now === "failed" ? sentence : "";
    this.element.dataset.state = now;
  };

  stored() {
    return Object.fromEntries(Object.entries(this.saved.kept).map(([key, text]) => [key, JSON.parse(text)]));
  }

  onStore = (all) => {
    const kept = Object.fromEntries(Object.entries(all).map(([key, value]) => [key, JSON.stringify(value)]));
    if (JSON.stringify(kept).length > MOST_KEPT) throw new Error(_("The dashboard keeps no more of this widget."));
    this.saved.kept = kept;
    save();
  };

  async run(installed) {
    await run(this, installed).catch(() => {}); // onState was told.
    if (this.element.isConnected) save();
  }

  /** Runs the installed version: where it could freeze the page, on a click. */
  start() {
    const { version } = this.saved.version;
    if (canStartAlone) return this.run(version);
    const button = make("button", { type: "button", textContent: _("Run the preview") });
    button.addEventListener("click", () => this.run(version));
    this.place.replaceChildren(button);
  }

  remove() {
    const next = this.element.nextElementSibling ?? this.element.previousElementSibling;
    this.removed.abort();
    this.widget?.unmount();
    this.element.remove();
    save();
    (tiles.get(next)?.handle ?? input).focus();
    announce(_("%(name)s was removed.", { name: this.saved.version.displayName }));
  }

  resize(w, h) {
    const { minSize, maxSize } = this.saved.version;
    this.saved.w = Math.min(maxSize.w, Math.max(minSize.w, w));
    this.saved.h = Math.min(maxSize.h, Math.max(minSize.h, h));
    this.element.style.setProperty("--w", this.saved.w);
    this.element.style.setProperty("--h", this.saved.h);
  }

  /** Before another tile, or at the end. Frames keep running if the browser can move them. */
  move(before) {
    if (grid.moveBefore) grid.moveBefore(this.element, before);
    else grid.insertBefore(this.element, before);
  }

  #onKey(event) {
    const { previousElementSibling: last, nextElementSibling: next } = this.element;
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
    const down = { ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0;
    if (across === 0 && down === 0) return;
    event.preventDefault();
    if (event.shiftKey) this.resize(this.saved.w + across, this.saved.h + down);
    else if (across + down < 0 && last) this.move(last);
    else if (across + down > 0 && next) this.move(next.nextElementSibling);
    this.handle.focus();
    save();
    const place = [...grid.children].indexOf(this.element) + 1;
    const values = { place, count: grid.children.length, width: this.saved.w, height: this.saved.h };
    announce(_("Place %(place)s of %(count)s, %(width)s by %(height)s cells.", values));
  }

  #drag({ clientX: x, clientY: y }) {
    const over = [...grid.children].find((it) => {
      const { left, right, top, bottom } = it.getBoundingClientRect();
      return it !== this.element && x > left && x < right && y > top && y < bottom;
    });
    if (!over) return;
    const { left, width } = over.getBoundingClientRect();
    const before = x < left + width / 2 ? over : over.nextElementSibling;
    if (before !== this.element && before !== this.element.nextElementSibling) this.move(before);
  }

  #stretch({ clientX: x, clientY: y }) {
    const { left, top } = this.element.getBoundingClientRect();
    const cells = (pixels) => Math.round((pixels + GAP_PX) / (CELL_PX + GAP_PX));
    this.resize(cells(x - left), cells(y - top));
  }
}

/** Calls `onMove` while the handle is dragged, then saves. */
function follow(handle, element, onMove) {
  handle.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    handle.setPointerCapture(event.pointerId);
    page.classList.add("is-arranging");
    element.classList.add("is-held");
    handle.addEventListener("pointermove", onMove);
    handle.addEventListener("lostpointercapture", () => {
      page.classList.remove("is-arranging");
      element.classList.remove("is-held");
      handle.removeEventListener("pointermove", onMove);
      save();
    }, { once: true });
  });
}

function show(scheme) {
  state.scheme = document.documentElement.dataset.scheme = scheme;
  for (const tile of tiles.values()) tile.widget?.show(scheme);
}

function announce(sentence) {
  status.textContent = sentence;
}

function make(tag, properties = {}, children = []) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

const input = page.querySelector("input[type=search]");
let typing = 0;
input.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => showResults(input.value.trim()), 150);
});
input.form.addEventListener("submit", (event) => {
  event.preventDefault();
  showResults(input.value.trim());
});
for (const choice of page.querySelectorAll("input[name=scheme]")) {
  choice.checked = choice.value === state.scheme;
  choice.addEventListener("change", () => {
    show(choice.value);
    save();
  });
}
new ResizeObserver(([{ contentRect: { width } }]) => {
  const columns = Math.floor((width + GAP_PX) / (CELL_PX + GAP_PX));
  grid.style.setProperty("--columns", Math.max(1, columns));
}).observe(grid);
show(state.scheme);
grid.append(...state.tiles.map((saved) => new Tile(saved).element));
save();
page.hidden = false;
showResults("");
if (!isSecureContext) announce(_("Files of widgets can be checked on https and on localhost only, so none runs here."));
for (const tile of tiles.values()) tile.start();
