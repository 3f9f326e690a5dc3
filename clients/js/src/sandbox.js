// Runs widgets in sandboxed frames. sandbox.d.ts says what it does.

import { Bridge, said } from "./bridge.js";
import { filesOf } from "./chosen.js";
import { CatalogError, InvalidRequest, Revoked } from "./errors.js";
import { Grants } from "./grants.js";
import { followRevocations, reconnect } from "./revocations.js";

const PROTOCOL = 1;
const TICK_MS = 1_000;
const PAUSED_MS = 3_000; // This page was paused itself, for example in the background.
const START_WITHIN_MS = 10_000;
const SILENT_MS = 5_000; // Longer than any widget needs to render.
const QUIET_MS = 2_500; // Two pings were not answered.
const RESTART_AFTER_MS = 500;
const MESSAGES_A_SECOND = 100;
const MESSAGE_CHARACTERS = 262_144; // As in frame.js.
const REPORTS = 20;

const N_ = (text) => text; // Marks a text that is translated elsewhere.
const SENTENCES = {
  loading: N_("Loading …"),
  running: N_("Running."),
  unseen: N_("The widget is running, but is invisible: its frame has no size."),
  stopped: N_("Stopped."),
  removed: N_("Stopped: its element was removed or moved."),
  frame: N_("This catalog has no frame: none answers, or frame-src of this page does not name it:"),
  unsafe: N_("No widget runs in this frame, because it lacks:"),
  load: N_("The widget's module could not be loaded."),
  contract: N_("This module is made for another kind of dashboard: it does not export mount()."),
  migrate: N_("The widget could not take over its settings."),
  mount: N_("The widget could not start."),
  fault: N_("The widget reported an error."),
  host: N_("The page could not answer the widget:"),
  silent: N_("The widget stopped answering, so it was ended."),
  flood: N_("The widget sent too many messages, so it was ended."),
  frames: N_("The widget opened a frame, so it was ended."),
  hints: N_("The widget told the browser to connect to another host, so it was ended."),
  left: N_("The widget tried to leave its frame, so it was ended."),
  revoked: N_("This version was revoked, so it was ended."),
};
// Those that the frame may name, with what the widget says.
const OF_WIDGET = ["load", "contract", "migrate", "mount", "fault", "frames", "hints", "left"];

/** A widget did not start: `reason` is a key of the sentences. */
export class SandboxError extends CatalogError {}

const byElement = new WeakMap();
const widgets = new Set(); // That load or run.
let isListening = false;
let timer = 0;
let tickedAt = 0;

export async function mount(element, options) {
  if (element?.nodeType !== 1) throw new InvalidRequest("mount() needs an element of this page.");
  byElement.get(element)?.end("stopped");
  const widget = new Widget(element, options);
  byElement.set(element, widget);
  return widget.start();
}

class Widget {
  #options;
  #files;
  #frame;
  #window; // Of the frame; undefined: there is none at the moment.
  #port;
  #bridge;
  #unfollow;
  #change; // Of the version of the settings, until the frame has migrated them.
  #isLoaded = false;
  #isReady = false;
  #onReady;
  #outcome;
  #answerBy = Infinity; // Or else it has stopped answering.
  #received = 0;
  #reportsLeft = REPORTS;
  heardAt = Infinity;
  isRunning = false;

  constructor(element, options) {
    this.element = element;
    this.#options = { ...options };
  }

  async start() {
    const { signal } = this.#options;
    const outcome = new Promise((done, fail) => (this.#outcome = { done, fail }));
    const abort = () => this.end("stopped", "", signal.reason);
    this.#say("loading", "loading");
    join(this);
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
    else this.#begin();
    return outcome;
  }

  #begin = () =>
    this.#prepare().catch((cause) => {
      const isTyped = cause instanceof CatalogError;
      this.end("load", "", isTyped ? cause : new SandboxError(said(cause), { reason: "host", cause }));
    });

  async #prepare() {
    const isReady = this.#open(); // The frame loads while the files are fetched.
    const frame = this.#frame;
    this.#files ??= filesOf(this.#options);
    const [files] = await Promise.all([this.#files, isReady]);
    if (frame === this.#frame) await this.#run(files);
  }

  /** In a new process: the old one ends with the last of its frames. */
  restart() {
    this.#clear();
    this.#say("loading", "loading");
    setTimeout(() => widgets.has(this) && this.#begin(), RESTART_AFTER_MS);
  }

  #open() {
    const { catalog, frame } = this.#options;
    if (!catalog && !frame) throw new InvalidRequest("mount() needs a catalog, or a frame.");
    const src = new URL(frame ?? `${catalog.baseUrl}/frame/v1`, document.baseURI).href;
    const own = (this.#frame = document.createElement("iframe"));
    this.#isLoaded = this.#isReady = false;
    own.sandbox = "allow-scripts";
    own.style.cssText = "display:block;width:100%;height:100%;border:0";
    Object.assign(own, { src, title: this.#options.id ?? "", referrerPolicy: "no-referrer" });
    own.addEventListener("load", () => {
      if (this.#isLoaded) this.end(this.#isThere() ? "left" : "removed");
      this.#isLoaded = true;
      if (this.#isReady) this.#onReady();
    });
    this.element.replaceChildren(own);
    this.#window = own.contentWindow;
    this.#answerBy = performance.now() + START_WITHIN_MS;
    return new Promise((done) => (this.#onReady = done));
  }

  async #run({ bundle, css, version, declared, update, configVersionChange }) {
    const { catalog, id, config = {}, locale = navigator.language } = this.#options;
    const { scheme, sdk, grants, title } = this.#options;
    this.#frame.title = title ?? version?.displayName ?? "Widget";
    if (this.#change === undefined) this.#change = this.#options.config && configVersionChange;
    const report = (reason, detail) => this.#report(reason, detail);
    const send = (message) => this.#port?.postMessage(message);
    const { port1, port2 } = new MessageChannel();
    // Not to the frame of a new start, which asks with the same numbers.
    const answer = (message) => port1.postMessage(message);
    this.#bridge = new Bridge(this.#options, new Grants(grants, declared), answer, report);
    const given = { ...(await this.#bridge.begin()), bundle, css, config, locale, scheme, sdk };
    if (!this.#window) return;
    this.#window.postMessage({ ...given, change: this.#change }, "*", [port2]);
    this.#port = port1;
    port1.onmessage = ({ data }) => this.#receive(data);
    this.heardAt = performance.now();
    this.#answerBy = this.heardAt + START_WITHIN_MS;
    this.#bridge.follow();
    if (update && !this.#outcome.widget) this.#tell(this.#options.onUpdate, update);
    this.#outcome.widget = {
      version,
      update: (config) => this.#keep({ config }) && send({ type: "update", config }),
      show: (scheme) => this.#keep({ scheme }) && send({ type: "show", scheme }),
      unmount: () => this.end("stopped"),
    };
    if (!catalog || !version) return;
    this.#unfollow = followRevocations(catalog, id, version.version, (reason) => {
      const message = `${id} ${version.version} was revoked: ${reason}`;
      this.end("revoked", reason, new Revoked(message, { id }));
    });
  }

  /** For a new start. */
  #keep = (change) => Object.assign(this.#options, change);

  #clear() {
    this.isRunning = false;
    this.heardAt = this.#answerBy = Infinity;
    this.#bridge?.end();
    this.#unfollow?.();
    this.#port?.close();
    this.#port = this.#window = undefined;
    this.#frame?.remove(); // This ends everything that runs in it.
    this.#frame = null;
  }

  end(reason, detail = "", error = null) {
    if (!widgets.delete(this)) return;
    this.#clear();
    const isStop = reason === "stopped" || reason === "removed";
    // An error of the page or of the catalog says itself what happened.
    const sentence = error && reason === "load" ? said(error) : this.#sentence(reason, detail);
    this.#say(isStop ? "stopped" : "failed", reason, sentence);
    if (error?.update) this.#tell(this.#options.onUpdate, error.update); // Nothing else may run.
    this.#outcome.fail(error ?? new SandboxError(sentence, { reason }));
  }

  /** A message to the page. Only the first one of a frame is read: others may be huge. */
  hear(event) {
    if (event.source !== this.#window) return;
    if (this.#isReady) this.#isTooMuch();
    else this.#ready(Object(event.data));
  }

  #ready({ type, versions, missing }) {
    if (type !== "ready") return;
    if (missing) return this.end("unsafe", missing);
    if (!versions?.includes?.(PROTOCOL)) return this.end("frame", this.#frame.src);
    this.#isReady = true;
    this.#answerBy = Infinity;
    // Not before both: a widget that leaves its frame is noticed by the second `load`.
    if (this.#isLoaded) this.#onReady();
  }

  #receive(text) {
    if (this.#isTooMuch()) return;
    if (typeof text !== "string" || text.length > MESSAGE_CHARACTERS) return this.end("flood");
    this.heardAt = performance.now();
    this.excuse(this.heardAt);
    const message = parsed(text);
    const { type, reason } = message;
    const detail = said(message.message ?? "");
    if (type === "mounted") this.#mounted();
    else if (type === "failed") this.end(OF_WIDGET.includes(reason) ? reason : "load", detail);
    else if (type === "fault") this.#report("fault", detail);
    else if (type !== "config") this.#bridge.hear(message);
    else if (this.#change) this.#migrated(message);
  }

  #migrated({ config }) {
    this.#tell(this.#options.onConfig, config, this.#change.to);
    this.#keep({ config });
    this.#change = null;
  }

  #mounted() {
    const { clientWidth, clientHeight } = this.#frame;
    const isUnseen = this.#frame.getClientRects().length > 0 && !(clientWidth && clientHeight);
    this.isRunning = true;
    this.#say("running", isUnseen ? "unseen" : "running");
    this.#outcome.done(this.#outcome.widget);
  }

  #isTooMuch() {
    this.#received += 1;
    if (this.#received > MESSAGES_A_SECOND) this.end("flood");
    return !widgets.has(this);
  }

  #report(reason, detail) {
    if (!this.isRunning || this.#reportsLeft-- <= 0) return;
    this.#say("running", reason, this.#sentence(reason, detail));
  }

  #say(state, reason, sentence = this.#sentence(reason)) {
    this.#tell(this.#options.onState, state, sentence);
  }

  /** An error in a function of the page is the page's, and this goes on. */
  #tell(listener, ...values) {
    try {
      listener?.(...values);
    } catch (error) {
      reportError(error);
    }
  }

  #sentence(reason, detail) {
    const { translate = N_ } = this.#options;
    const says = OF_WIDGET.includes(reason) ? ` ${translate(N_("It says:"))}` : "";
    return translate(SENTENCES[reason]) + (detail ? `${says} ${detail}` : "");
  }

  #isThere() {
    return this.#frame.isConnected && this.#frame.contentWindow === this.#window;
  }

  /** Every second. False: it did not answer in time. */
  check(now) {
    this.#received = 0;
    if (!this.#window) return true;
    if (!this.#isThere()) this.end("removed");
    // The frame reports this itself, but a widget might keep it from doing so.
    else if (this.#port && this.#window.length > 0) this.end("frames");
    else if (!this.#isReady && now > this.#answerBy) this.end("frame", this.#frame.src);
    this.#port?.postMessage({ type: "ping", offset: this.#bridge.offset() });
    return now <= this.#answerBy || !widgets.has(this);
  }

  /** Waits for an answer from now on. */
  excuse(now) {
    if (this.#answerBy < now + SILENT_MS) this.#answerBy = now + SILENT_MS;
  }
}

/** Not of the script of the frame, if it is no JSON. */
function parsed(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function join(widget) {
  if (widgets.size === 0) {
    tickedAt = performance.now();
    timer = setInterval(tick, TICK_MS);
  }
  widgets.add(widget);
  if (isListening) return;
  isListening = true;
  addEventListener("message", (event) => widgets.forEach((it) => it.hear(event)));
  addEventListener("online", reconnect);
}

/** Ends a widget that does not answer, such as one in an endless loop, if the browser runs frames
 *  in a process of their own; otherwise the browser itself has to ask the visitor. Frames share that
 *  process, so one loop silences all, until the last frame is gone: the likeliest widget is ended,
 *  and the others are started again. */
function tick() {
  const now = performance.now();
  const isLate = now - tickedAt > PAUSED_MS;
  tickedAt = now;
  if (isLate) for (const widget of widgets) widget.excuse(now);
  if (isLate && document.visibilityState === "visible") reconnect();
  if ([...widgets].filter((widget) => !widget.check(now)).length > 0) {
    const quiet = [...widgets].filter(({ heardAt }) => now - heardAt > QUIET_MS);
    const culprit = quiet.findLast((widget) => !widget.isRunning) ?? quiet.at(-1);
    culprit.end("silent");
    for (const widget of quiet) if (widget !== culprit) widget.restart();
  }
  if (widgets.size === 0) clearInterval(timer);
}
