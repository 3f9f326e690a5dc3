// Resting on a card runs its widget in place of the picture: one at a time, in the sandbox. Never with
// reduced motion or reduced data, or where a widget could freeze the page. A click still opens the page
// of the widget.

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
  #preview = null;
  #isOver = false;

  constructor(card) {
    this.card = card;
    this.place = Object.assign(document.createElement("div"), { className: "live", inert: true });
    this.place.setAttribute("aria-hidden", "true");
    this.timer = setTimeout(() => this.#run().catch(() => this.end()), REST_MS);
  }

  async #run() {
    const path = this.card.dataset.live.split("/").map(encodeURIComponent).join("/");
    const [{ Preview, canStartAlone }, { requested }] = await Promise.all([
      import("./preview.js"), import("./capabilities.js"),
    ]);
    if (!canStartAlone || this.#isOver) return;
    const response = await fetch(new URL(`api/v1/widgets/${path}`, root));
    const detail = await response.json();
    if (this.#isOver || !response.ok) return;
    const { version, files } = detail;
    const described = Object(detail.manifest);
    this.#fit(version, Object(described.defaultSize));
    this.#preview = new Preview(this.place, { onState: (state) => this.#show(state) });
    await this.#preview.run({
      bundleUrl: version.bundleUrl,
      sha256Hash: version.sha256Hash,
      styleUrl: files.find((it) => it.path === "index.css")?.url ?? null,
      permissions: requested(version.permissions, detail),
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
    this.#preview?.stop();
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
