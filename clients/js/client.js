// The client of Widget Catalog for browsers, Node and Bun. client.d.ts says what it does.

const CACHE_NAME = "widget-catalog-1";

export class CatalogError extends Error {
  constructor(message, { cause, ...details } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    Object.assign(this, details);
  }
}
export class InvalidRequest extends CatalogError {}
export class NotFound extends CatalogError {}
export class Unavailable extends CatalogError {}
export class Offline extends Unavailable {}

export class Catalog {
  #fetch;
  #cache;
  #timeoutMs;

  constructor(baseUrl, { fetch, cache, timeoutMs = 10_000 } = {}) {
    this.baseUrl = String(baseUrl).replace(/\/+$/, "");
    this.#fetch = fetch ?? ((...request) => globalThis.fetch(...request));
    this.#cache = cache === undefined ? openBrowserCache() : Promise.resolve(cache);
    this.#timeoutMs = timeoutMs;
  }

  async search(query = {}, { signal } = {}) {
    return this.#read(`search${queryString(query)}`, { signal });
  }

  async detail(id, { signal } = {}) {
    return this.#read(pathOf(id), { signal, isKept: true });
  }

  async revocations({ signal } = {}) {
    return this.#read("revocations", { signal, isKept: true });
  }

  async #read(path, { signal, isKept = false }) {
    const address = this.#address(path);
    try {
      const answer = await this.#ask(address, { signal });
      const kept = isKept ? answer.clone() : null;
      const value = await readJson(answer, signal);
      if (kept) await this.#keep(address, kept);
      return value;
    } catch (error) {
      const kept = isKept && error instanceof Unavailable && (await this.#find(address));
      if (!kept) throw error;
      return kept.json();
    }
  }

  /** The answer to a request, unless it is an error. */
  async #ask(address, { signal, ...request } = {}) {
    const signals = [signal, AbortSignal.timeout(this.#timeoutMs)].filter(Boolean);
    let answer;
    try {
      answer = await this.#fetch(address, { ...request, signal: AbortSignal.any(signals) });
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw new Offline(`${address} cannot be reached.`, { cause });
    }
    if (answer.ok) return answer;
    const { status } = answer;
    const { error } = await answer.json().catch(() => ({}));
    const message = error ?? `${address} answered ${status}.`;
    if (status === 404) throw new NotFound(message, { status });
    if (status < 500 && status !== 429) throw new InvalidRequest(message, { status });
    const retryAfterSeconds = Number(answer.headers.get("retry-after")) || null;
    throw new Unavailable(message, { status, retryAfterSeconds });
  }

  #address(path) {
    return `${this.baseUrl}/api/v1/widgets/${path}`;
  }

  async #find(address) {
    try {
      return await (await this.#cache)?.match(address);
    } catch {
      return undefined;
    }
  }

  async #keep(address, answer) {
    try {
      await (await this.#cache)?.put(address, answer);
    } catch {
      // A cache that is full, or fails, is as good as none.
    }
  }
}

function pathOf(id) {
  const [, scope, name] = /^@?([a-z0-9][a-z0-9-]*)\/([a-z0-9][a-z0-9-]*)$/.exec(id) ?? [];
  if (name === undefined) throw new InvalidRequest(`${id} is not a widget: write scope/name.`);
  return `${scope}/${name}`;
}

function queryString(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

async function readJson(answer, signal) {
  try {
    return await answer.json();
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw new Unavailable(`${answer.url} did not answer with JSON.`, { cause });
  }
}

async function openBrowserCache() {
  try {
    return await globalThis.caches?.open(CACHE_NAME);
  } catch {
    return undefined; // As in a sandboxed frame.
  }
}
