// A form for a widget's settings, from the JSON Schema in its manifest. settings.d.ts says what it does.

import { make, useStyle } from "./elements.js";
import { translator } from "./texts.js";

const MOST_FIELDS = 60;

// What follows `:where` has no weight: a page may style the form with any rule, or with the variables.
const STYLE = `
:where(.widget-settings) { display: grid; gap: var(--widget-gap, 1rem); text-align: start; }
:where(.widget-field) { display: grid; gap: .3rem; min-width: 0; }
:where(.widget-settings label) { font-weight: 600; }
:where(.widget-check) { grid-template-columns: auto 1fr; gap: .2rem .55rem; align-items: center; }
:where(.widget-check label) { font-weight: inherit; }
:where(.widget-check small) { grid-column: 2; }
:where(.widget-settings small) { color: var(--widget-quiet, inherit); font-size: .9em; line-height: 1.4; }
:where(.widget-wrong) { color: var(--widget-bad, light-dark(#a3282c, #f1908f)); }
:where(.widget-settings small:empty) { display: none; }
:where(.widget-field:not(.widget-check) :is(input, select, textarea)) { box-sizing: border-box; width: 100%; min-width: 0; padding: .45rem .6rem; border: 1px solid var(--widget-edge, color-mix(in srgb, currentColor 55%, transparent)); border-radius: var(--widget-radius, 8px); background: var(--widget-surface, transparent); color: inherit; font: inherit; }
:where(.widget-field input[type="color"]) { height: 2.2rem; padding: .2rem; }
:where(.widget-check input) { width: 1.05rem; height: 1.05rem; margin: 0; accent-color: var(--widget-accent, auto); }
:where(.widget-settings) [aria-invalid="true"] { border-color: var(--widget-bad, light-dark(#a3282c, #f1908f)); }
:where(.widget-code) { font-family: var(--widget-code, ui-monospace, monospace); resize: vertical; }
`;

/** The settings of a manifest before anybody has changed them. */
export function defaultConfig({ configSchema, defaultConfig: given } = {}) {
  const values = defaultsOf(configSchema);
  return isObject(given) ? { ...values, ...given } : values;
}

/** The author's presets: the schema's `examples`, each a complete set of settings. */
export function presets(schema) {
  const { examples } = Object(schema);
  return Array.isArray(examples) ? examples.filter(isObject).slice(0, 12) : [];
}

export function settingsForm(element, options = {}) {
  return new SettingsForm(element, options);
}

class SettingsForm {
  #schema;
  #onChange;
  #translate;
  #config;
  #form;

  constructor(element, { schema, config = {}, onChange = () => {}, locale, translate }) {
    this.#schema = Object(schema);
    this.#onChange = onChange;
    this.#translate = translate ?? translator(locale);
    this.#form = make("form", { className: "widget-settings", noValidate: true });
    this.#form.addEventListener("submit", (event) => event.preventDefault());
    this.fill({ ...defaultsOf(this.#schema), ...config });
    element.replaceChildren(this.#form);
    useStyle(element, STYLE);
  }

  get config() {
    return this.#config;
  }

  fill(config) {
    this.#config = { ...config };
    const fields = fieldsOf(this.#schema).map(([key, it]) => this.#field(key, it));
    this.#form.replaceChildren(...(fields.length > 0 ? fields : [this.#whole()]));
  }

  remove() {
    this.#form.remove();
  }

  #replace(config) {
    this.#config = config;
    this.#onChange(config);
  }

  #whole() {
    const _ = this.#translate;
    return field(_("Settings as JSON"), {}, json(this.#config, (it) => this.#replace(it), _));
  }

  #set(key, value) {
    const { [key]: _, ...others } = this.#config;
    this.#replace(value === undefined ? others : { ...others, [key]: value });
  }

  #field(key, schema) {
    const _ = this.#translate;
    const label = typeof schema.title === "string" ? schema.title : words(key);
    const set = (next) => this.#set(key, next);
    const isLines = schema.type === "array" && Object(schema.items).type === "string";
    const hint = isLines ? _("One on each line.") : "";
    return field(label, { ...schema, hint }, control(schema, this.#config[key], set, _));
  }
}

function control(schema, value, set, _) {
  if (Array.isArray(schema.enum)) return choice(schema, value, set);
  if (schema.type === "boolean") return checkbox(value, set);
  if (schema.type === "number" || schema.type === "integer") return number(schema, value, set);
  if (schema.type === "string") return text(schema, value, set);
  if (schema.type === "array" && Object(schema.items).type === "string") return lines(value, set);
  return json(value, set, _);
}

function json(value, set, _) {
  const area = make("textarea", { rows: 4, spellcheck: false, className: "widget-code" });
  area.value = value === undefined ? "" : JSON.stringify(value, null, 2);
  area.addEventListener("input", () => {
    try {
      const found = area.value.trim() ? JSON.parse(area.value) : {};
      if (!isObject(found) && !Array.isArray(found)) throw new Error(_("Write an object: { … }"));
      area.setCustomValidity("");
      set(found);
    } catch (fault) {
      area.setCustomValidity(fault.message);
    }
  });
  return area;
}

function choice({ enum: values }, value, set) {
  const options = values.map((it, index) =>
    make("option", { value: String(index), textContent: shown(it), selected: it === value }));
  if (value === undefined) options.unshift(make("option", { value: "", textContent: "—" }));
  const select = make("select", {}, options);
  select.addEventListener("change", () => set(values[select.value]));
  return select;
}

function checkbox(value, set) {
  const input = make("input", { type: "checkbox", checked: value === true });
  input.addEventListener("change", () => set(input.checked));
  return input;
}

function number({ type, minimum, maximum, multipleOf }, value, set) {
  const step = Number.isFinite(multipleOf) ? multipleOf : (type === "integer" ? 1 : "any");
  const input = make("input", { type: "number", step, value: Number.isFinite(value) ? value : "" });
  if (Number.isFinite(minimum)) input.min = minimum;
  if (Number.isFinite(maximum)) input.max = maximum;
  input.addEventListener("input", () => {
    if (input.validity.valid) set(input.value === "" ? undefined : input.valueAsNumber);
  });
  return input;
}

const KINDS = {
  color: "color", date: "date", "date-time": "datetime-local", time: "time",
  uri: "url", email: "email",
};

// A schema's `pattern` is ignored: a malicious one could block this page forever.
function text({ format, maxLength }, value, set) {
  const type = KINDS[shown(format ?? "")] ?? "text";
  const input = make("input", { type, value: shown(value ?? "") });
  if (Number.isInteger(maxLength) && maxLength >= 0) input.maxLength = maxLength;
  input.addEventListener("input", () => {
    if (input.validity.valid) set(input.value === "" ? undefined : input.value);
  });
  return input;
}

function lines(value, set) {
  const text = Array.isArray(value) ? value.map(shown).join("\n") : "";
  const area = make("textarea", { rows: 4, value: text });
  area.addEventListener("input", () => set(area.value.split("\n").filter((it) => it.trim())));
  return area;
}

let fields = 0;

/** A control with its label and description, and with what is wrong with its value. */
function field(text, { description, hint }, control) {
  const id = `widget-setting-${fields += 1}`;
  const says = [description, hint].filter((it) => it && typeof it === "string").join(" ");
  const label = make("label", { htmlFor: id, textContent: text });
  const about = make("small", { id: `${id}-about`, textContent: says });
  const wrong = make("small", { id: `${id}-wrong`, className: "widget-wrong" });
  wrong.setAttribute("role", "status");
  control.id = id;
  control.setAttribute("aria-describedby", `${about.id} ${wrong.id}`);
  control.addEventListener("input", () => {
    wrong.textContent = control.validationMessage;
    control.setAttribute("aria-invalid", String(!control.validity.valid));
  });
  const isCheck = control.type === "checkbox";
  const parts = isCheck ? [control, label] : [label, control];
  return make("div", { className: isCheck ? "widget-field widget-check" : "widget-field" }, [...parts, about, wrong]);
}

const words = (key) => {
  const spaced = key.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[-_]+/g, " ").toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
};

function fieldsOf(schema) {
  const properties = Object.entries(Object(Object(schema).properties));
  return properties.filter(([, it]) => isObject(it)).slice(0, MOST_FIELDS);
}

function defaultsOf(schema) {
  const stated = fieldsOf(schema).filter(([, it]) => it.default !== undefined);
  return Object.fromEntries(stated.map(([key, it]) => [key, it.default]));
}

// An author may write any JSON, such as `{"toString": 1}`, which is no text.
const shown = (it) => (typeof it === "string" ? it : JSON.stringify(it));

const isObject = (it) => typeof it === "object" && it !== null && !Array.isArray(it);
