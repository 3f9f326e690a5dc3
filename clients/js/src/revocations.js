// One stream of changes for each Catalog, shared by all widgets of it that run: those whose version
// is revoked are ended.

const RETRY_MS = 30_000;
const LOOK_EVERY_MS = 5_000;
const SLEPT_MS = 20_000;

const followed = new WeakMap(); // By Catalog.

const keyOf = (id, version) => `${id}@${version.split("+")[0]}`;

/** Calls `onRevoked` with the reason, if any, when this version is revoked; returns what ends that. */
export function followRevocations(catalog, id, version, onRevoked) {
  const stream = followed.get(catalog) ?? new Stream(catalog);
  followed.set(catalog, stream);
  return stream.add({ key: keyOf(id, version), onRevoked });
}

class Stream {
  #catalog;
  #revoked = new Map(); // The reasons.
  #running = new Set();
  #ending = null;
  #timer = 0;
  #lookedAt = 0;

  constructor(catalog) {
    this.#catalog = catalog;
  }

  add(widget) {
    this.#running.add(widget);
    if (this.#ending === null) this.#begin();
    else this.#endRevoked();
    return () => {
      this.#running.delete(widget);
      if (this.#running.size === 0) this.#end();
    };
  }

  #begin() {
    this.#ending = new AbortController();
    addEventListener("online", this.#again);
    document.addEventListener("visibilitychange", this.#look);
    this.#timer = setInterval(this.#look, LOOK_EVERY_MS);
    this.#lookedAt = Date.now();
    this.#follow(this.#ending.signal);
  }

  #end() {
    this.#ending?.abort();
    this.#ending = null;
    clearInterval(this.#timer);
    removeEventListener("online", this.#again);
    document.removeEventListener("visibilitychange", this.#look);
  }

  #again = () => {
    this.#end();
    this.#begin();
  };

  /** After sleep the connection may be dead without knowing it. */
  #look = () => {
    if (document.visibilityState === "hidden") return;
    const wasAsleep = Date.now() - this.#lookedAt > SLEPT_MS;
    this.#lookedAt = Date.now();
    if (wasAsleep) this.#again();
  };

  async #follow(signal) {
    try {
      const { revision, revocations } = await this.#catalog.revocations({ signal });
      this.#revoked = new Map(revocations.map((it) => [keyOf(it.id, it.version), it.reason]));
      this.#endRevoked();
      for await (const { type, id, version } of this.#catalog.watch({ since: revision, signal })) {
        if (type === "revoked") this.#revoked.set(keyOf(id, version), "");
        if (type === "unrevoked") this.#revoked.delete(keyOf(id, version));
        this.#endRevoked();
      }
    } catch {} // Unreachable, or the changes have expired: read the list again.
    setTimeout(() => signal.aborted || this.#again(), RETRY_MS);
  }

  #endRevoked() {
    for (const { key, onRevoked } of this.#running) {
      if (this.#revoked.has(key)) onRevoked(this.#revoked.get(key));
    }
  }
}
