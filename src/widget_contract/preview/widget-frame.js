// WidgetFrame: runs an untrusted widget in a sandboxed frame of this page.
//
//   const frame = new WidgetFrame(element, { onState: (state, message) => … });
//   await frame.run({ bundleUrl, sha256Hash, styleUrl, permissions, config, scheme: "dark" });
//   frame.update(config); frame.show("light"); frame.stop();
//
// The frame has an opaque origin and no network, so this page fetches the files, verifies
// them, and passes the bytes in. Messages from the frame are untrusted.

const PING_EVERY_MS = 1_000;
const SILENT_FOR_MS = 5_000; // Longer than any widget needs to render.
const START_WITHIN_MS = 10_000;
const MESSAGES_A_SECOND = 100;
const KEPT_CHARACTERS = 100_000;

const N_ = (text) => text; // Marks a text that is translated elsewhere.
const SENTENCES = {
  offline: N_("The widget's files could not be fetched."),
  load: N_("The widget's module could not be loaded."),
  contract: N_("This module is made for another kind of dashboard: it does not export mount()."),
  mount: N_("The widget could not start."),
  fault: N_("The widget reported an error."),
  unseen: N_("The widget is running, but is invisible: its frame has no size."),
  silent: N_("The widget stopped answering, so it was ended."),
  flood: N_("The widget sent too many messages, so it was ended."),
  frames: N_("The widget opened a frame, which is not allowed in a preview, so it was ended."),
  hints: N_("The widget told the browser to connect to another host, which is not allowed in a preview, so it was ended."),
  left: N_("The widget tried to leave its frame, so it was ended."),
};

export class WidgetFrame {
  #place;
  #onState;
  #onKeep;
  #translate;
  #frame = null;
  #port = null;
  #timer = 0;
  #heardAt = 0;
  #received = 0;

  /** onState receives "loading", "running", "stopped" or "failed", and a message;
   *  onKeep receives what the widget stores: a key and JSON, to be passed as `kept`;
   *  translate receives an English message, and returns it in another language. */
  constructor(place, { onState = () => {}, onKeep = () => {}, translate = (text) => text } = {}) {
    this.#place = place;
    this.#onState = onState;
    this.#onKeep = onKeep;
    this.#translate = translate;
  }

  get isRunning() {
    return this.#frame !== null;
  }

  /** A version by the URLs of its files, or by their content: `bundle` and `style`.
   *  `credentials` is "same-origin" for files that only the visitor may read. */
  async run({ bundleUrl, sha256Hash, styleUrl = null, bundle, style, title = "Widget",
    permissions = [], config = {}, kept = [], scheme = "light", locale = navigator.language,
    credentials = "omit" }) {
    this.stop();
    const frame = document.createElement("iframe");
    this.#frame = frame;
    this.#onState("loading", this.#translate(N_("Loading …")));
    frame.setAttribute("sandbox", "allow-scripts");
    frame.title = title;
    frame.src = new URL("frame.html", import.meta.url);
    const isLoaded = new Promise((done) => frame.addEventListener("load", done, { once: true }));
    this.#place.replaceChildren(frame);
    let host;
    try {
      [host, bundle, style] = await Promise.all([
        read(new URL("sample-context.js", import.meta.url)),
        bundle ?? read(bundleUrl, sha256Hash, credentials),
        style ?? (styleUrl
          ? read(styleUrl, "", credentials).then((it) => new TextDecoder().decode(it)) : ""),
        isLoaded,
      ]);
    } catch {
      return this.#frame === frame && this.#fail("offline");
    }
    if (this.#frame !== frame) return; // Stopped meanwhile.
    frame.addEventListener("load", () => this.#frame === frame && this.#fail("left"));
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }) => this.#frame === frame && this.#receive(data);
    addEventListener("message", this.#hearWindow);
    const order = { host, bundle, style, config, locale, scheme, permissions, kept };
    frame.contentWindow.postMessage(order, "*", [port2]);
    this.#watch();
  }

  update(config) {
    this.#port?.postMessage({ type: "update", config });
  }

  show(scheme) {
    this.#port?.postMessage({ type: "scheme", scheme });
  }

  stop() {
    if (this.#frame === null) return;
    this.#remove();
    this.#onState("stopped", this.#translate(N_("Stopped.")));
  }

  #remove() {
    clearInterval(this.#timer);
    removeEventListener("message", this.#hearWindow);
    this.#port?.close();
    this.#frame?.remove(); // This ends everything that runs in it.
    this.#port = this.#frame = null;
  }

  #fail(reason, message = "") {
    this.#remove();
    this.#onState("failed", this.#sentence(reason, message));
  }

  #sentence(reason, message) {
    const text = this.#translate(SENTENCES[reason]);
    const detail = typeof message === "string" ? message.slice(0, 300) : "";
    return detail ? `${text} ${this.#translate(N_("It says:"))} ${detail}` : text;
  }

  /** Ends a widget that does not respond, such as one in an endless loop, if the browser runs the
   *  frame in a separate process; otherwise the browser itself has to ask the visitor. */
  #watch() {
    let pingedAt = performance.now();
    this.#heardAt = pingedAt + START_WITHIN_MS - SILENT_FOR_MS;
    this.#received = 0;
    this.#timer = setInterval(() => {
      const now = performance.now();
      // If this page itself was paused, for example in the background, allow the frame some time.
      if (now - pingedAt > 3 * PING_EVERY_MS) this.#heardAt = Math.max(this.#heardAt, now);
      pingedAt = now;
      this.#received = 0;
      if (now - this.#heardAt > SILENT_FOR_MS) return this.#fail("silent");
      // The frame reports this itself, but a widget might keep it from doing so.
      if (this.#frame.contentWindow.length > 0) return this.#fail("frames");
      this.#port.postMessage({ type: "ping" });
    }, PING_EVERY_MS);
  }

  #hearWindow = ({ source }) => {
    if (source === this.#frame?.contentWindow) this.#isTooMuch();
  };

  /** Whether the frame has a place on the page, but no size. */
  #isUnseen() {
    const { clientWidth, clientHeight } = this.#frame;
    return this.#frame.getClientRects().length > 0 && (clientWidth === 0 || clientHeight === 0);
  }

  #isTooMuch() {
    this.#received += 1;
    if (this.#received > MESSAGES_A_SECOND) this.#fail("flood");
    return this.#frame === null;
  }

  #receive(data) {
    if (this.#isTooMuch()) return;
    this.#heardAt = performance.now();
    const { type, reason, message, key, text } = Object(data);
    if (type === "mounted") this.#onState("running", this.#translate(this.#isUnseen() ? SENTENCES.unseen : N_("Running.")));
    if (type === "failed") {
      const isKnown = typeof reason === "string" && Object.hasOwn(SENTENCES, reason);
      this.#fail(isKnown ? reason : "load", message);
    }
    if (type === "fault") this.#onState("running", this.#sentence("fault", message));
    if (type === "kept" && typeof key === "string" && typeof text === "string") {
      if (key.length + text.length < KEPT_CHARACTERS) this.#onKeep(key, text);
    }
  }
}

async function read(url, sha256Hash = "", credentials = "omit") {
  const integrity = sha256Hash && `sha256-${base64(sha256Hash)}`;
  const answer = await fetch(url, { integrity, credentials, referrerPolicy: "no-referrer" });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.arrayBuffer();
}

const base64 = (hex) =>
  btoa(hex.match(/../g).map((pair) => String.fromCharCode(parseInt(pair, 16))).join(""));
