// A form for a widget's settings, from the JSON Schema in its manifest; or a field for JSON.

const MOST_FIELDS = 60;

/** The default settings of a manifest. */
export function defaultConfig({ configSchema, defaultConfig: given }) {
  const defaults = fieldsOf(configSchema).filter(([, it]) => it.default !== undefined);
  const values = Object.fromEntries(defaults.map(([key, it]) => [key, it.default]));
  return isObject(given) ? { ...values, ...given } : values;
}

/** The author's presets: the schema's `examples`, each a complete set of settings. */
export function presets({ configSchema }) {
  const { examples } = Object(configSchema);
  return Array.isArray(examples) ? examples.filter(isObject).slice(0, 12) : [];
}

/** Form controls for the settings; `onChange` receives all of them when they are valid. */
export class SettingsForm {
  #schema;
  #onChange;
  #translate;
  #config;
  element = document.createElement("form");

  constructor(manifest, onChange, translate = (text) => text) {
    this.#translate = translate;
    this.#schema = Object(manifest.configSchema);
    this.#onChange = onChange;
    this.element.className = "preview-settings";
    this.element.addEventListener("submit", (event) => event.preventDefault());
    this.fill(defaultConfig(manifest));
  }

  get config() {
    return this.#config;
  }

  fill(config) {
    const _ = this.#translate;
    this.#config = { ...config };
    const fields = fieldsOf(this.#schema);
    this.element.replaceChildren(...(fields.length > 0
      ? fields.map(([key, it]) => this.#field(key, it))
      : [this.#jsonField(_("Settings as JSON"), this.#config, (value) => this.#replace(value))]));
  }

  #replace(config) {
    this.#config = config;
    this.#onChange(config);
  }

  #set(key, value) {
    const { [key]: _, ...others } = this.#config;
    this.#replace(value === undefined ? others : { ...others, [key]: value });
  }

  #field(key, schema) {
    const _ = this.#translate;
    const label = typeof schema.title === "string" ? schema.title : words(key);
    const value = this.#config[key];
    const set = (next) => this.#set(key, next);
    if (Array.isArray(schema.enum)) return described(label, schema, choice(schema, value, set));
    if (schema.type === "boolean") return described(label, schema, checkbox(value, set));
    if (schema.type === "number" || schema.type === "integer") {
      return described(label, schema, number(schema, value, set));
    }
    if (schema.type === "string") return described(label, schema, text(schema, value, set));
    if (schema.type === "array" && Object(schema.items).type === "string") {
      return described(label, { ...schema, hint: _("One on each line.") }, lines(value, set));
    }
    return this.#jsonField(label, value, set, schema);
  }

  #jsonField(label, value, set, schema = {}) {
    const _ = this.#translate;
    const area = make("textarea", { rows: 4, spellcheck: false, className: "preview-code" });
    area.value = value === undefined ? "" : JSON.stringify(value, null, 2);
    area.addEventListener("input", () => {
      const isFine = check(area, () => (area.value.trim() ? JSON.parse(area.value) : {}), _);
      if (isFine) set(isFine.value);
    });
    return described(label, schema, area);
  }
}

function check(area, parse, _) {
  try {
    const value = parse();
    if (!isObject(value) && !Array.isArray(value)) throw new Error(_("Write an object: { … }"));
    area.setCustomValidity("");
    return { value };
  } catch (fault) {
    area.setCustomValidity(fault.message);
    return null;
  }
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

function described(label, { description, hint }, control) {
  const parts = [make("span", { textContent: label }), control];
  const about = [description, hint].filter((it) => typeof it === "string").join(" ");
  const isCheck = control.type === "checkbox";
  const field = make("label", { className: isCheck ? "preview-check" : "preview-field" });
  field.append(...(isCheck ? parts.reverse() : parts));
  if (about) field.append(make("small", { textContent: about }));
  return field;
}

const words = (key) => {
  const spaced = key.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[-_]+/g, " ").toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
};

function fieldsOf(schema) {
  const properties = Object.entries(Object(Object(schema).properties));
  return properties.filter(([, it]) => isObject(it)).slice(0, MOST_FIELDS);
}

// An author may write any JSON, such as `{"toString": 1}`, which is no text.
const shown = (it) => (typeof it === "string" ? it : JSON.stringify(it));

const isObject = (it) => typeof it === "object" && it !== null && !Array.isArray(it);

export function make(tag, properties = {}, children = []) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}
