// A dashboard of widgets from a catalog, in TypeScript. They run in sandboxes, with what this page grants them.

import { Catalog, type Update } from "widget-catalog-client";
import { consent } from "widget-catalog-client/consent";
import { mount, type Grant, type Host, type MountedSandbox } from "widget-catalog-client/sandbox";
import { settingsForm } from "widget-catalog-client/settings";

interface Saved { // A widget on this dashboard.
  id: string; instance: string; grants: Grant[]; isWide?: boolean;
  version?: string; config?: Record<string, unknown>; configVersion?: number | null;
}

const SDK = "2.2.0"; // What this dashboard offers to widgets: docs/widget-contract.md.
const catalog = new Catalog("http://127.0.0.1:8080");
const find = <Type extends HTMLElement>(id: string) => document.getElementById(id) as Type;
const [text, dialog] = [find<HTMLInputElement>("text"), find<HTMLDialogElement>("dialog")];
const [form, results, message, tiles] = ["search", "results", "message", "tiles"].map((id) => find(id));
const scheme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";

// What this page knows, and what it answers to widgets that were granted to ask for it.
const home = new Map([["light.kitchen", "on"], ["light.hall", "off"], ["lock.front_door", "locked"]]);
const SERVICES: Record<string, string> = { turn_on: "on", turn_off: "off", lock: "locked", unlock: "unlocked" };
const listeners = new Set<() => void>();
const states = () => [...home].map(([entity, state]) => ({ entity, state, attributes: {} }));
const host: Host = {
  data: { weather: { place: "Bern", temperature: 17, condition: "clear", wind: 8, days: [] } },
  locate: () => ({ latitude: 46.95, longitude: 7.45, place: "Bern" }),
  states,
  watchStates(_pattern, listener) {
    const tell = () => listener(states());
    listeners.add(tell);
    return () => listeners.delete(tell);
  },
  call(service, { entity }) {
    home.set(entity, SERVICES[service.split(".").at(-1) ?? ""] ?? home.get(entity));
    for (const tell of listeners) tell();
  },
};
const saved: Saved[] = JSON.parse(localStorage.getItem("dashboard") ?? "[]");
const save = () => localStorage.setItem("dashboard", JSON.stringify(saved));
function make<T extends keyof HTMLElementTagNameMap>(
  tag: T, properties: Partial<HTMLElementTagNameMap[T]> = {}, ...children: (Node | string)[]) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}
const button = (label: string, onclick: () => void, title = "") =>
  make("button", { type: "button", title, ariaLabel: title || label, onclick }, label);

async function search(q: string) {
  const { widgets } = await catalog.search({ q, compatSdk: SDK, limit: 24 });
  results.replaceChildren(...await Promise.all(widgets.map(async (widget) => {
    const id = `${widget.scope}/${widget.name}`;
    const version = widget.latestCompatibleVersion; // Null: none runs here.
    const picture = make("img", { src: await catalog.picture(id, { scheme }), alt: "" });
    const onclick = () => void (version && add(id, version.version));
    return make("li", {}, make("button", { disabled: !version, onclick }, picture, widget.displayName));
  })));
  message.textContent = widgets.length > 0 ? "" : "No widgets found.";
}

/** What the user grants to a version. */
async function ask(id: string, number: string) {
  const { version, capabilities } = await catalog.version(id, number);
  const place = make("div");
  dialog.replaceChildren(make("h2", {}, version.displayName), place);
  const grants = consent(place, { permissions: version.permissions, capabilities });
  if (place.childElementCount > 0) dialog.showModal();
  dialog.oncancel = (event) => event.preventDefault(); // Answer the form.
  return grants.finally(() => dialog.close());
}

async function add(id: string, number: string) {
  const widget = { id, grants: await ask(id, number), instance: crypto.randomUUID() };
  saved.push(widget);
  show(widget);
}

function show(widget: Saved) {
  const [title, state] = [make("h2", {}, widget.id), make("p", { role: "status" })];
  const place = make("div", { className: "place" });
  const update = button("Update", () => {});
  let running: MountedSandbox | null = null;

  /** Without `installed` this is an install, which is counted. `accept`: an update with consent. */
  async function start(accept?: Update, granted = widget.grants) {
    update.hidden = true;
    widget.grants = granted;
    try {
      const { id, config, configVersion, grants, instance, version: installed } = widget;
      running = await mount(place, {
        catalog, id, sdk: SDK, installed, accept, instance, grants, host, scheme, config, configVersion,
        onState: (_, sentence) => (state.textContent = sentence === "Running." ? "" : sentence),
        onConfig: (config, configVersion) => void Object.assign(widget, { config, configVersion }),
        onUpdate: offer,
      });
      const { version, displayName, configVersion: current } = running.version!;
      Object.assign(widget, { version, configVersion: current });
      title.textContent = displayName;
      save();
    } catch {} // The tile shows the sentence.
  }

  function offer(newer: Update) {
    update.hidden = false;
    update.title = `${newer.version}: ${newer.reasons.join(", ")}`;
    update.onclick = async () => start(newer, await ask(widget.id, newer.version));
  }

  async function configure() {
    const { manifest } = await catalog.version(widget.id, widget.version!);
    const form = make("div");
    const onChange = (config: object) => (Object.assign(widget, { config }), running?.update({ ...config }), save());
    settingsForm(form, { schema: manifest?.configSchema, config: widget.config, onChange });
    dialog.replaceChildren(make("h2", {}, title.textContent), form, button("Close", () => dialog.close()));
    dialog.showModal();
  }

  function move(step: number) {
    const from = saved.indexOf(widget);
    const to = Math.min(Math.max(from + step, 0), saved.length - 1);
    saved.splice(to, 0, ...saved.splice(from, 1));
    arrange();
  }

  function remove() {
    running?.unmount();
    saved.splice(saved.indexOf(widget), 1);
    tile.remove();
    save();
  }
  const buttons = [update, button("←", () => move(-1), "Move left"), button("→", () => move(1), "Move right"),
    button("↔", () => ((widget.isWide = tile.classList.toggle("wide")), save()), "Wide or narrow"),
    button("Settings", configure), button("Remove", remove)];
  const tile = make("section", { className: widget.isWide ? "tile wide" : "tile", id: widget.instance },
    make("header", {}, title, ...buttons), state, place);
  tiles.append(tile);
  void start();
}

/** Moved by style, because a frame that is moved in the document is unloaded. */
function arrange() {
  saved.forEach(({ instance }, at) => (find(instance).style.order = `${at}`));
  save();
}
const refresh = () => search(text.value).catch((error: Error) => (message.textContent = error.message));
form.onsubmit = (event) => (event.preventDefault(), refresh());
saved.forEach(show);
refresh();
