// A widget in the sandbox of the client, as the pages of the catalog and of the tool show it: with
// everything that it asks for, from a host that pretends.
import { FRAME, IS_APART } from "./frame.js";
import { sampleHost } from "./sample-host.js";
import { mount } from "./sandbox.js";

const SDK = "2.2.0";

const N_ = (text) => text; // Marks a text that is translated elsewhere.
const OFFLINE = N_("The widget's files could not be fetched.");

/** Whether a widget that hangs cannot freeze this page, because its frame has a process of its own. */
export const canStartAlone = IS_APART || navigator.userAgentData?.mobile === false;

export class Preview {
  #place = document.createElement("div");
  #onState;
  #translate;
  #run = 0; // Counts them: what an earlier one says no longer matters.
  #ending = null;
  #mounted = null;
  #wanted = {};

  /** onState receives "loading", "running", "stopped" or "failed", and a sentence. */
  constructor(place, { onState = () => {}, translate = (text) => text } = {}) {
    place.append(this.#place);
    this.#onState = onState;
    this.#translate = translate;
  }

  /** `permissions` may contain capabilities; `credentials` is "same-origin" for files that only the
   *  visitor may read. */
  async run({
    bundleUrl, sha256Hash, styleUrl, credentials, permissions = [], manifest, title, scheme, ...settings
  }) {
    const { config, configVersion, onConfig } = settings;
    this.stop();
    const number = (this.#run += 1);
    const isCurrent = () => number === this.#run;
    const say = (state, sentence) => {
      if (!isCurrent()) return;
      if (state === "failed" || state === "stopped") this.#ending = this.#mounted = null;
      this.#onState(state, sentence);
    };
    const { signal } = (this.#ending = new AbortController());
    this.#wanted = { config, scheme };
    say("loading", this.#translate(N_("Loading …")));
    const files = await Promise.all([
      read(bundleUrl, sha256Hash, credentials),
      styleUrl && read(styleUrl, "", credentials).then((it) => new TextDecoder().decode(it)),
    ]).catch(() => null);
    if (!isCurrent()) return;
    if (files === null) return say("failed", this.#translate(OFFLINE));
    const [bundle, css] = files;
    const shown = { ...this.#wanted };
    const mounted = await mount(this.#place, {
      frame: FRAME, grants: permissions, sdk: SDK, configVersion, onConfig,
      files: { bundle, css, manifest: { permissions, configVersion: manifest?.configVersion } },
      ...shown, title, host: sampleHost(), translate: this.#translate, onState: say, signal,
    }).catch(() => null); // onState was told.
    if (mounted === null || !isCurrent()) return mounted?.unmount();
    this.#mounted = mounted;
    // What has changed while it was loading.
    if (this.#wanted.config !== shown.config) mounted.update(this.#wanted.config);
    if (this.#wanted.scheme !== shown.scheme) mounted.show(this.#wanted.scheme);
  }

  update(config) {
    this.#wanted.config = config;
    this.#mounted?.update(config);
  }

  show(scheme) {
    this.#wanted.scheme = scheme;
    this.#mounted?.show(scheme);
  }

  stop() {
    if (this.#ending === null) return;
    this.#run += 1;
    this.#ending.abort();
    this.#mounted?.unmount();
    this.#ending = this.#mounted = null;
    this.#onState("stopped", this.#translate(N_("Stopped.")));
  }
}

async function read(url, sha256Hash, credentials = "omit") {
  const integrity = sha256Hash && `sha256-${base64(sha256Hash)}`;
  const answer = await fetch(url, { integrity, credentials, referrerPolicy: "no-referrer" });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.arrayBuffer();
}

const base64 = (hex) =>
  btoa(hex.match(/../g).map((pair) => String.fromCharCode(parseInt(pair, 16))).join(""));
