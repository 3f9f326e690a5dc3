// Resting on a card runs its widget in place of the picture: one at a time, in a sandboxed frame.
// Never with reduced motion or reduced data. A click still opens the page of the widget.

const REST_MS = 600;
const CELL_PX = 96;
const USUAL = { w: 4, h: 3 };
const UNWANTED = ["(prefers-reduced-motion: reduce)", "(prefers-reduced-data: reduce)"];
const DARK = matchMedia("(prefers-color-scheme: dark)");
const root = new URL("../..", import.meta.url);

const isWanted = () =>
  !navigator.connection?.saveData && !UNWANTED.some((it) => matchMedia(it).matches);

/** A card with the pointer on it. */
class Rest {
  #frame = null;
  #isOver = false;

  constructor(card) {
    this.card = card;
    this.place = Object.assign(document.createElement("div"), { className: "live", inert: true });
    this.place.setAttribute("aria-hidden", "true");
    this.timer = setTimeout(() => this.#run().catch(() => this.end()), REST_MS);
  }

  async #run() {
    const path = this.card.dataset.live.split("/").map(encodeURIComponent).join("/");
    const [{ WidgetFrame }, response] = await Promise.all([
      import("./widget-frame.js"), fetch(new URL(`api/v1/widgets/${path}`, root)),
    ]);
    const { version, manifest, files } = await response.json();
    if (this.#isOver || !response.ok) return;
    const described = Object(manifest);
    this.#fit(version, Object(described.defaultSize));
    this.#frame = new WidgetFrame(this.place, { onState: (state) => this.#show(state) });
    await this.#frame.run({
      bundleUrl: version.bundleUrl,
      sha256Hash: version.sha256Hash,
      styleUrl: files.find((it) => it.path === "index.css")?.url ?? null,
      permissions: version.permissions,
      config: Object(described.defaultConfig),
      scheme: document.documentElement.dataset.theme ?? (DARK.matches ? "dark" : "light"),
      title: version.displayName,
    });
  }

  /** As large as the picture: the size of a dashboard, scaled down. */
  #fit({ minSize, maxSize }, wanted) {
    const cells = (axis) =>
      Math.min(maxSize[axis], Math.max(minSize[axis], Number.isInteger(wanted[axis]) ? wanted[axis] : USUAL[axis]));
    const [width, height] = [cells("w") * CELL_PX, cells("h") * CELL_PX];
    const shot = this.card.querySelector(".shot");
    const scale = Math.min(1, (shot.clientWidth * 0.92) / width, (shot.clientHeight * 0.84) / height);
    const { style } = this.place;
    style.width = `${width * scale}px`;
    style.height = `${height * scale}px`;
    style.setProperty("--width", `${width}px`);
    style.setProperty("--height", `${height}px`);
    style.setProperty("--scale", scale);
    shot.append(this.place);
  }

  #show(state) {
    this.place.classList.toggle("is-running", state === "running");
    if (state === "failed") this.end();
  }

  end() {
    this.#isOver = true;
    clearTimeout(this.timer);
    this.#frame?.stop();
    this.place.remove();
  }
}

let rest = null;

function restOn(card) {
  if (card === (rest?.card ?? null)) return;
  rest?.end();
  rest = card !== null && isWanted() ? new Rest(card) : null;
}

document.addEventListener("pointerover", ({ pointerType, target }) => {
  if (pointerType === "mouse") restOn(target.closest("[data-live]"));
});
document.documentElement.addEventListener("pointerleave", () => restOn(null));
