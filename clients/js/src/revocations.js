// One stream of changes for each Catalog, shared by all widgets of it that run: those whose version
// is revoked are ended.

const RETRY_MS = 30_000;

const streams = new Map(); // By Catalog.
const keyOf = (id, version) => `${id.replace("@", "")}@${version.split("+")[0]}`;

/** Calls `onRevoked` with the reason when this version is revoked; returns what ends that. */
export function followRevocations(catalog, id, version, onRevoked) {
  const stream = streams.get(catalog) ?? new Stream(catalog);
  const widget = { key: keyOf(id, version), onRevoked };
  streams.set(catalog, stream);
  stream.widgets.add(widget);
  stream.endRevoked();
  return () => {
    stream.widgets.delete(widget);
    if (stream.widgets.size === 0 && streams.delete(catalog)) stream.ending.abort();
  };
}

/** After sleep or offline, connections may be dead without knowing it. */
export function reconnect() {
  for (const stream of streams.values()) stream.follow();
}

class Stream {
  widgets = new Set();
  ending = new AbortController();
  #catalog;
  #revoked = new Map(); // The reasons.

  constructor(catalog) {
    this.#catalog = catalog;
    this.follow();
  }

  async follow() {
    this.ending.abort();
    this.ending = new AbortController();
    const { signal } = this.ending;
    try {
      const { revision, revocations } = await this.#catalog.revocations({ signal });
      this.#revoked = new Map(revocations.map((it) => [keyOf(it.id, it.version), it.reason]));
      this.endRevoked();
      for await (const { type, id, version } of this.#catalog.watch({ since: revision, signal })) {
        if (type === "revoked") this.#revoked.set(keyOf(id, version), "");
        if (type === "unrevoked") this.#revoked.delete(keyOf(id, version));
        this.endRevoked();
      }
    } catch {} // Unreachable, or the changes have expired: the list is read again.
    setTimeout(() => signal.aborted || this.follow(), RETRY_MS);
  }

  endRevoked() {
    for (const { key, onRevoked } of this.widgets) {
      if (this.#revoked.has(key)) onRevoked(this.#revoked.get(key));
    }
  }
}
