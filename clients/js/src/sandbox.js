// Runs widgets in sandboxed frames. sandbox.d.ts says what it does.

import { CatalogError, InvalidRequest, Revoked } from "./errors.js";
import { Bridge, said } from "./bridge.js";
import { filesOf } from "./chosen.js";
import { Grants } from "./grants.js";
import { followRevocations } from "./revocations.js";

const PROTOCOL = 1;
const TICK_MS = 1_000;
const ASLEEP_MS = 3_000; // This page was paused itself: frames get some time.
const READY_WITHIN_MS = 10_000;
const BLOCKED_MS = 2_500; // The policy of this page has blocked some frame of this address.
const SILENT_MS = 5_000; // Longer than any widget needs to render.
const MESSAGES_A_SECOND = 100;
const MESSAGE_CHARACTERS = 262_144; // As in frame.js.
const REPORTS = 20;

const N_ = (text) => text; // Marks a text that is translated elsewhere.
const SENTENCES = {
  loading: N_("Loading …"),
  running: N_("Running."),
  unseen: N_("The widget is running, but is invisible: its frame has no size."),
  stopped: N_("Stopped."),
  replaced: N_("Stopped: another widget was mounted in its place."),
  removed: N_("Stopped: its element was removed from the page."),
  moved: N_("Stopped: its element was moved, which unloads a frame. Mount it again."),
  frame: N_("This catalog has no frame: nothing answers as one at this address:"),
  protocol: N_("The frame of this catalog does not know this version of the protocol."),
  blocked: N_("The Content-Security-Policy of this page does not admit the frame. Add it to frame-src:"),
  policy: N_("The frame came without its Content-Security-Policy, so no widget runs in it."),
  origin: N_("The frame has the origin of a site, so no widget runs in it."),
  load: N_("The widget's module could not be loaded."),
  contract: N_("This module is made for another kind of dashboard: it does not export mount()."),
  migrate: N_("The widget could not take over its settings."),
  mount: N_("The widget could not start."),
  fault: N_("The widget reported an error."),
  host: N_("The page could not answer the widget:"),
  silent: N_("The widget stopped answering, so it was ended."),
  flood: N_("The widget sent too many messages, so it was ended."),
  large: N_("The widget sent a message that is too large, so it was ended."),
  frames: N_("The widget opened a frame, which is not allowed in a sandbox, so it was ended."),
  hints: N_("The widget told the browser to connect to another host, which is not allowed in a sandbox, so it was ended."),
  left: N_("The widget tried to leave its frame, so it was ended."),
  revoked: N_("This version was revoked, so it was ended."),
};
const STOPS = ["stopped", "replaced", "removed", "moved"];
const OF_WIDGET = ["load", "contract", "migrate", "mount", "frames", "hints", "left"];
const QUOTED = ["load", "migrate", "mount", "fault"]; // What the widget says is added.

/** A widget that did not start: `reason` is a key of the sentences. */
export class SandboxError extends CatalogError {}

const byElement = new WeakMap();
const widgets = new Set(); // That load or run.
let timer = 0;
let tickedAt = 0;

export async function mount(element, options) {
  if (element?.nodeType !== 1) throw new InvalidRequest("mount() needs an element of this page.");
  byElement.get(element)?.end("replaced");
  const widget = new Widget(element, options ?? {});
  byElement.set(element, widget);
  return widget.start();
}

class Widget {
  #options;
  #frame = document.createElement("iframe");
  #address = "";
  #window = null;
  #port = null;
  #bridge = null;
  #version = null;
  #configVersion = null; // While the frame is asked to migrate the settings.
  #unfollow = null;
  #hasLoaded = false;
  #isBlocked = false;
  #onReady;
  #outcome;
  #stage = "frame"; // What is waited for: the frame, the files, or answers of the widget.
  #heardAt = 0;
  #received = 0;
  #reportsLeft = REPORTS;
  isRunning = false;

  constructor(element, options) {
    this.element = element;
    this.#options = options;
  }

  async start() {
    const { signal } = this.#options;
    const outcome = new Promise((done, fail) => (this.#outcome = { done, fail }));
    const abort = () => this.end("stopped", "", signal.reason);
    this.#say("loading", this.#sentence("loading"));
    join(this);
    signal?.addEventListener("abort", abort);
    this.#prepare().catch((error) => this.end("load", "", error));
    try {
      await outcome;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
    return Object.freeze({
      version: this.#version,
      update: (config) => this.#send({ type: "update", config }),
      show: (scheme) => this.#send({ type: "show", scheme }),
      unmount: () => this.end("stopped"),
    });
  }

  async #prepare() {
    this.#options.signal?.throwIfAborted();
    const isReady = this.#open();
    const [files] = await Promise.all([filesOf(this.#options), isReady]);
    if (widgets.has(this)) await this.#run(files);
  }

  /** The frame loads while the files are fetched. */
  #open() {
    const { catalog, frame, id = "", title = id } = this.#options;
    if (!catalog && !frame) throw new InvalidRequest("mount() needs a catalog, or the address of a frame.");
    this.#address = new URL(frame ?? `${catalog.baseUrl}/frame/v1`, document.baseURI).href;
    this.#frame.setAttribute("sandbox", "allow-scripts");
    Object.assign(this.#frame, { title, src: this.#address, referrerPolicy: "no-referrer" });
    this.#frame.style.cssText = "display: block; width: 100%; height: 100%; border: 0";
    this.#frame.addEventListener("load", () => this.#hasMoved() || this.#loaded());
    this.element.replaceChildren(this.#frame);
    this.#window = this.#frame.contentWindow;
    this.#heardAt = performance.now();
    return new Promise((done) => (this.#onReady = done));
  }

  async #run(files) {
    const { catalog, id, config, locale = navigator.language, scheme, sdk, grants, onUpdate } = this.#options;
    const { bundle, css, version, declared, update } = files;
    this.#version = version;
    if (version?.displayName && !this.#options.title) this.#frame.title = version.displayName;
    const from = this.#options.configVersion ?? files.configVersionChange?.from ?? null;
    const isOlder = config !== undefined && from !== null && from !== (files.configVersion ?? from);
    this.#configVersion = isOlder ? files.configVersion : null;
    const send = (message) => this.#send(message);
    const own = { ...this.#options, baseUrl: catalog?.baseUrl };
    this.#bridge = new Bridge(own, new Grants(grants, declared), send, (...fault) => this.#report(...fault));
    const given = await this.#bridge.begin();
    if (!widgets.has(this)) return;
    const { port1, port2 } = new MessageChannel();
    const offset = this.#bridge.offset();
    const order = { ...given, bundle, css, config: config ?? {}, locale, scheme, sdk, offset };
    order.migrateFrom = isOlder ? from : null;
    try {
      this.#window.postMessage(order, "*", [port2]);
    } catch (cause) {
      const message = "The config or the data of the page cannot be copied into a frame";
      throw new InvalidRequest(`${message}: ${said(cause)}`, { cause });
    }
    this.#port = port1;
    port1.onmessage = ({ data }) => this.#receive(data);
    this.#stage = "widget";
    this.#heardAt = performance.now() + READY_WITHIN_MS - SILENT_MS;
    this.#bridge.follow();
    if (catalog && version) {
      this.#unfollow = followRevocations(catalog, id, version.version, (reason) => {
        this.end("revoked", reason, new Revoked(`${id} ${version.version} was revoked: ${reason}`, { id }));
      });
    }
    if (update) this.#tell(onUpdate, update);
  }

  #send(message) {
    this.#port?.postMessage(message);
  }

  end(reason, detail = "", error = null) {
    if (!widgets.delete(this)) return;
    this.isRunning = false;
    this.#bridge?.end();
    this.#unfollow?.();
    this.#port?.close();
    this.#port = null;
    this.#frame.remove(); // This ends everything that runs in it.
    if (byElement.get(this.element) === this) byElement.delete(this.element);
    const isKnown = error instanceof CatalogError && reason === "load";
    const sentence = isKnown ? error.message : this.#sentence(reason, detail || (error && said(error)));
    this.#say(STOPS.includes(reason) ? "stopped" : "failed", sentence);
    this.#outcome.fail(error ?? new SandboxError(sentence, { reason }));
  }

  #loaded() {
    if (this.#hasLoaded) return this.end("left");
    this.#hasLoaded = true;
    this.#settleReady();
  }

  #hasMoved() {
    if (this.#frame.contentWindow === this.#window) return false;
    this.end("moved");
    return true;
  }

  /** Not before both: a widget that leaves its frame is noticed by the second `load`. */
  #settleReady() {
    if (this.#stage === "files" && this.#hasLoaded) this.#onReady();
  }

  /** Whether a message is from this frame. Only the first one is read: others may be huge. */
  hear(event) {
    if (event.source !== this.#window) return false;
    if (this.#stage !== "frame") this.#isTooMuch();
    else this.#ready(Object(event.data));
    return true;
  }

  #ready({ type, versions, missing }) {
    if (type !== "ready" || !Array.isArray(versions)) return;
    if (missing !== null) return this.end(missing === "origin" ? "origin" : "policy");
    if (!versions.includes(PROTOCOL)) return this.end("protocol");
    this.#stage = "files";
    this.#settleReady();
  }

  violated({ effectiveDirective, blockedURI }) {
    // Of another widget, too, that tries to leave its frame: this one may still get ready.
    const isMaybeOurs = effectiveDirective === "frame-src" && this.#address.startsWith(blockedURI);
    if (isMaybeOurs) this.#isBlocked = true;
  }

  #receive(text) {
    if (this.#isTooMuch()) return;
    this.#heardAt = performance.now();
    if (typeof text !== "string" || text.length > MESSAGE_CHARACTERS) return this.end("large");
    let message;
    try {
      message = Object(JSON.parse(text));
    } catch {
      return; // Not of the script of the frame.
    }
    const { type, reason } = message;
    if (type === "mounted") this.#mounted();
    else if (type === "failed") this.end(OF_WIDGET.includes(reason) ? reason : "load", quoted(message));
    else if (type === "fault") this.#report("fault", quoted(message));
    else if (type === "config") this.#migrated(message);
    else this.#bridge.hear(message);
  }

  #mounted() {
    this.isRunning = true;
    const { clientWidth, clientHeight } = this.#frame;
    const isUnseen = this.#frame.getClientRects().length > 0 && !(clientWidth && clientHeight);
    this.#say("running", this.#sentence(isUnseen ? "unseen" : "running"));
    this.#outcome.done();
  }

  #migrated({ config }) {
    if (this.#configVersion === null) return;
    this.#tell(this.#options.onConfig, config, this.#configVersion);
    this.#configVersion = null;
  }

  #isTooMuch() {
    this.#received += 1;
    if (this.#received > MESSAGES_A_SECOND) this.end("flood");
    return !widgets.has(this);
  }

  #report(reason, detail) {
    if (this.isRunning && this.#reportsLeft-- > 0) this.#say("running", this.#sentence(reason, detail));
  }

  #say(state, sentence) {
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
    const { translate = (text) => text } = this.#options;
    const says = QUOTED.includes(reason) ? `${translate(N_("It says:"))} ` : "";
    return translate(SENTENCES[reason]) + (detail ? ` ${says}${detail}` : "");
  }

  /** Every second. False: it did not answer in time. */
  check(now) {
    this.#received = 0;
    if (!this.#frame.isConnected) return this.end("removed"), true;
    if (this.#hasMoved() || this.#stage === "files") return true;
    const waited = now - this.#heardAt;
    if (this.#stage === "frame") {
      const limit = this.#isBlocked ? BLOCKED_MS : READY_WITHIN_MS;
      if (waited > limit) this.end(this.#isBlocked ? "blocked" : "frame", this.#address);
      return true;
    }
    // The frame reports this itself, but a widget might keep it from doing so.
    if (this.#window.length > 0) return this.end("frames"), true;
    this.#send({ type: "ping", offset: this.#bridge.offset() });
    return waited < SILENT_MS;
  }

  /** Waits for an answer from now on. */
  excuse(now) {
    this.#heardAt = Math.max(this.#heardAt, now);
  }
}

const quoted = ({ message }) => (typeof message === "string" ? message.slice(0, 300) : "");

function join(widget) {
  if (widgets.size === 0) {
    addEventListener("message", hear);
    document.addEventListener("securitypolicyviolation", hearViolation);
    tickedAt = performance.now();
    clearInterval(timer);
    timer = setInterval(tick, TICK_MS);
  }
  widgets.add(widget);
}

function hear(event) {
  for (const widget of widgets) if (widget.hear(event)) return;
}

function hearViolation(event) {
  for (const widget of widgets) widget.violated(event);
}

/** Ends a widget that does not answer, such as one in an endless loop, if the browser runs frames
 *  in a process of their own; otherwise the browser itself has to ask the visitor. Frames share a
 *  process, so one loop silences all: only the likeliest widget is ended, and the others get time. */
function tick() {
  const now = performance.now();
  const wasPaused = now - tickedAt > ASLEEP_MS;
  tickedAt = now;
  if (wasPaused) for (const widget of widgets) widget.excuse(now);
  const silent = [...widgets].filter((widget) => !widget.check(now));
  const culprit = silent.findLast((widget) => !widget.isRunning) ?? silent.at(-1);
  if (culprit) for (const widget of widgets) widget.excuse(now);
  culprit?.end("silent");
  if (widgets.size > 0) return;
  clearInterval(timer);
  removeEventListener("message", hear);
  document.removeEventListener("securitypolicyviolation", hearViolation);
}
