// The preview panel: runs a version in a Preview, at any size, light or dark, with settings.
// A page has one or more elements `[data-preview]`, each with a JSON block that describes what
// to run; the rest is built here, because none of it works without scripts.

// On a page in another language, the page translates what is said here.
const _ = globalThis.translate ?? ((text) => text);

const CELL_PX = 96;
const USUAL = { w: 4, h: 3 };
const MOST_CELLS = 24;
const ABOUT = _("The widget runs in a sandbox with sample data: no network, no access to this page.");

/** Builds the panel for a version. A picture in the place, `.still`, is shown until it runs. */
export function draw(place, version) {
  const panel = new Panel(version, place.querySelector(".still"));
  place.replaceChildren(panel.element);
  return panel;
}

class Panel {
  #version;
  #preview = null;
  #form = null;
  #size;
  isWanted = false; // Whether it should run.
  #scheme = document.documentElement.dataset.theme
    ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

  constructor(version, still) {
    this.#version = version;
    this.stage = make("div", { className: "preview-stage" });
    this.holder = make("div", { className: "preview-holder", hidden: true });
    this.poster = this.#poster(still);
    this.stage.append(this.poster, this.holder);
    if (still !== null) this.stage.classList.add(...[...still.classList].filter((it) => /^t\d$/.test(it)));
    this.status = make("p", { className: "preview-status", role: "status" });
    this.side = make("div", { className: "preview-side", hidden: true });
    this.stop = button(_("Stop"), () => this.end());
    this.again = button(_("Run again"), () => this.run());
    this.stop.hidden = this.again.hidden = true;
    this.element = make("div", { className: "preview" }, [
      make("div", { className: "preview-bar" }, [
        this.#sizes(), this.#schemes(), make("div", { className: "preview-buttons" }, [this.again, this.stop]),
      ]),
      make("div", { className: "preview-body" }, [this.stage, this.side]),
      this.status,
    ]);
    new ResizeObserver(() => this.#fit()).observe(this.stage);
  }

  #poster(still) {
    const run = button(_("Run the preview"), () => this.run());
    run.className = "preview-run";
    const inside = make("div", { className: "preview-start" }, [run, make("p", { textContent: ABOUT })]);
    return make("div", { className: "preview-poster" }, still === null ? [inside] : [still, inside]);
  }

  /** `older`: settings of another version, `{ config, configVersion }`, which the widget migrates. */
  async run(older) {
    this.isWanted = true;
    const [{ Preview }, settings] = await Promise.all([import("./preview.js"), import("./settings.js")]);
    this.#preview ??= new Preview(this.holder, {
      onState: (state, sentence) => this.#show(state, sentence), translate: _,
    });
    if (this.#form === null) this.#drawSettings(settings);
    await this.#preview.run({
      ...this.#version, title: `${_("Preview")}: ${this.#version.displayName}`,
      config: this.#form.config, scheme: this.#scheme, ...older,
      onConfig: (config) => this.#form.fill(config),
    });
  }

  end() {
    this.isWanted = false;
    this.#preview?.stop();
  }

  /** Replaces the version by a newer state, and runs it unless the last one was stopped. */
  async refresh(version) {
    this.#version = version;
    if (this.isWanted) await this.run();
  }

  #drawSettings({ defaultConfig, presets, settingsForm }) {
    const manifest = Object(this.#version.manifest);
    const form = make("div", { className: "preview-settings" });
    this.#form = settingsForm(form, {
      schema: manifest.configSchema, config: defaultConfig(manifest), translate: _,
      onChange: (config) => this.#preview.update(config),
    });
    const given = presets(manifest.configSchema);
    const summary = make("summary", { textContent: _("Settings") });
    const hasForm = manifest.configSchema !== undefined;
    const details = make("details", { open: hasForm }, [summary]);
    this.side.classList.toggle("preview-below", !hasForm);
    if (given.length > 0) details.append(this.#presets(given));
    details.append(form);
    this.side.replaceChildren(details);
    this.side.hidden = false;
  }

  #presets(given) {
    const buttons = given.map((config, index) => button(`${_("Example")} ${index + 1}`, () => {
      this.#form.fill(config);
      this.#preview.update(config);
    }));
    return make("div", { className: "preview-presets" }, buttons);
  }

  #show(state, sentence) {
    const isOn = state === "loading" || state === "running";
    this.element.dataset.state = state;
    this.status.textContent = sentence;
    this.holder.hidden = !isOn;
    this.stop.hidden = !isOn;
    this.again.hidden = state === "loading";
    if (isOn) this.#fit();
    else this.poster.querySelector(".preview-start p").textContent = state === "failed" ? sentence : ABOUT;
  }

  #sizes() {
    const { minSize, maxSize, manifest } = this.#version;
    const within = (axis, wanted) => Math.min(maxSize[axis], Math.max(minSize[axis], wanted));
    const wanted = Object(Object(manifest).defaultSize);
    const usual = {
      w: within("w", Number.isInteger(wanted.w) ? wanted.w : USUAL.w),
      h: within("h", Number.isInteger(wanted.h) ? wanted.h : USUAL.h),
    };
    this.#size = usual;
    const free = { ...usual };
    const sliders = make("span", { className: "preview-free", hidden: true },
      [["w", _("Columns")], ["h", _("Rows")]].map(([axis, name]) => slider(name, free[axis], (cells) => {
        free[axis] = cells;
        this.#resize(free);
      })));
    const sizes = [
      [_("Smallest"), minSize], [_("Default"), usual], [_("Largest"), maxSize], [_("Free"), null],
    ];
    const choices = choose(_("Size"), sizes.map(([name, size]) => ({
      name, note: size && `${size.w} × ${size.h}`, isChosen: size === usual,
      onChoose: () => {
        sliders.hidden = size !== null;
        this.#resize(size ?? free);
      },
    })));
    return make("div", { className: "preview-sizes" }, [choices, sliders]);
  }

  #schemes() {
    return choose(_("Colors"), ["light", "dark"].map((scheme) => ({
      name: scheme === "light" ? _("Light") : _("Dark"), isChosen: scheme === this.#scheme,
      onChoose: () => {
        this.#scheme = scheme;
        this.#preview?.show(scheme);
      },
    })));
  }

  #resize(size) {
    this.#size = size;
    this.#fit();
  }

  /** A widget larger than the stage is scaled down, never cut off. */
  #fit() {
    const width = this.#size.w * CELL_PX;
    const height = this.#size.h * CELL_PX;
    const { paddingLeft, paddingRight } = getComputedStyle(this.stage);
    const room = this.stage.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    const scale = Math.min(1, Math.max(room, CELL_PX) / width, Math.max(innerHeight * 0.7, 320) / height);
    this.holder.style.width = `${width * scale}px`;
    this.holder.style.height = `${height * scale}px`;
    this.holder.style.setProperty("--width", `${width}px`);
    this.holder.style.setProperty("--height", `${height}px`);
    this.holder.style.setProperty("--scale", scale);
  }
}

let groups = 0;

function choose(legend, choices) {
  const name = `preview-${groups += 1}`;
  const options = choices.map(({ name: text, note, isChosen, onChoose }) => {
    const input = make("input", { type: "radio", name, checked: isChosen });
    input.addEventListener("change", onChoose);
    const words = [make("span", { textContent: text })];
    if (note) words.push(make("small", { textContent: note }));
    return make("label", {}, [input, make("span", { className: "preview-option" }, words)]);
  });
  const title = make("legend", { className: "unseen", textContent: legend });
  return make("fieldset", { className: "preview-choice" }, [title, ...options]);
}

function slider(name, value, onChange) {
  const input = make("input", { type: "range", min: 1, max: MOST_CELLS, value });
  const shown = make("b", { textContent: String(value) });
  input.addEventListener("input", () => {
    shown.textContent = input.value;
    onChange(input.valueAsNumber);
  });
  return make("label", {}, [make("span", { textContent: name }), input, shown]);
}

function button(text, onClick) {
  const made = make("button", { type: "button", textContent: text });
  made.addEventListener("click", onClick);
  return made;
}

function make(tag, properties = {}, children = []) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

for (const place of document.querySelectorAll("[data-preview]")) {
  const described = place.querySelector("script[type='application/json']");
  draw(place, JSON.parse(described.textContent));
}
