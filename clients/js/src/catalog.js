// A client of one catalog.

import {
  CatalogError,
  FeedExpired,
  IntegrityError,
  InvalidRequest,
  NotFound,
  Offline,
  Revoked,
  Unavailable,
} from "./errors.js";
import { takeChanges } from "./events.js";
import {
  importBytes,
  isSameVersion,
  keptPlan,
  openBrowserCache,
  refusal,
  refuseRevoked,
  sha256,
} from "./files.js";
import { baseOf, pathOf, queryString, readBytes, readError, readJson } from "./requests.js";
import {
  isChanges,
  isDetail,
  isPlan,
  isResolved,
  isRevocations,
  isSearch,
  isVersionDetail,
} from "./shapes.js";
import { pause, unlessAborted } from "./waiting.js";

const REVOCATIONS_FRESH_MS = 10_000;
const BATCH_SECONDS = 0.005;
const MOST_TOGETHER = 100; // Widgets per request; the service accepts 500, in 64 KB.
const STREAM_SILENCE_MS = 45_000; // The service sends a comment every 15 seconds.

const isBundle = ({ path }) => path === "index.js";
const isStyle = ({ path }) => path === "index.css";

export class Catalog {
  #fetch;
  #cache;
  #timeoutMs;
  #batches = new Map(); // By SDK and age: pending calls of resolve, sent as one request.
  #counted = new Set();
  #modules = new Map(); // By SHA-256: a bundle is imported once, however often it is loaded.
  #revocations = { at: -Infinity, list: null };

  constructor(baseUrl, { fetch, cache, timeoutMs = 10_000 } = {}) {
    this.baseUrl = baseOf(baseUrl);
    this.#fetch = fetch ?? ((...request) => globalThis.fetch(...request));
    this.#cache = cache === undefined ? openBrowserCache() : Promise.resolve(cache);
    this.#timeoutMs = timeoutMs;
  }

  async search(query = {}, { signal } = {}) {
    return this.#read(`search${queryString(query)}`, isSearch, { signal });
  }

  async detail(id, { signal } = {}) {
    return this.#read(pathOf(id), isDetail, { signal, isKept: true });
  }

  async version(id, version, { signal } = {}) {
    const path = `${pathOf(id)}/${encodeURIComponent(version)}`;
    return this.#read(path, isVersionDetail, { signal, isKept: true });
  }

  async revocations({ signal } = {}) {
    return this.#read("revocations", isRevocations, { signal, isKept: true });
  }

  async changes({ since, limit } = {}, { signal } = {}) {
    return this.#read(`changes${queryString({ since, limit })}`, isChanges, { signal });
  }

  async resolve(request, { signal } = {}) {
    const { sdk, minAgeDays, widgets, ...others } = request ?? {};
    const isForBatch = widgets?.length < MOST_TOGETHER && !Object.keys(others).length;
    if (!isForBatch) return this.#resolve(request, signal); // The service names unknown keys.
    const batch = this.#batchFor(sdk, minAgeDays, widgets.length);
    const end = batch.widgets.push(...widgets);
    try {
      const { results, ...rest } = await unlessAborted(batch.answer, signal);
      return { ...rest, results: results.slice(end - widgets.length, end) };
    } catch (error) {
      const isAlone = batch.widgets.length === widgets.length;
      if (isAlone || !(error instanceof InvalidRequest)) throw error;
      return this.#resolve(request, signal); // The error may be in another call of the batch.
    }
  }

  async load(id, options = {}) {
    const loaded = await this.#load(pathOf(id), options, (...it) => this.#import(...it));
    const { migrate = null } = loaded.configVersionChange ? loaded.module : {};
    return { ...loaded, migrate };
  }

  async fetchFiles(id, options = {}) {
    return this.#load(pathOf(id), options, (fetched) => fetched);
  }

  async picture(id, { scheme = "light" } = {}) {
    return this.#addressOf(`/pictures/${pathOf(id)}/${scheme}`);
  }

  async icon(id) {
    return this.#addressOf(`/icons/${pathOf(id)}.svg`);
  }

  async *watch({ since, pollSeconds = 30, signal } = {}) {
    let last = since ?? null;
    for (let failures = 0; !signal?.aborted; failures++) {
      const began = Date.now();
      try {
        last ??= (await this.revocations({ signal })).revision;
        for (const read of [() => this.#stream(last, signal), () => this.#poll(last, signal)]) {
          for await (const change of read()) {
            if (signal?.aborted) return;
            if (change.seq <= last) continue;
            last = change.seq;
            yield change;
          }
        }
      } catch (error) {
        if (signal?.aborted) return;
        // A SyntaxError: an event that is not JSON. Retry.
        if (!(error instanceof Unavailable || error instanceof SyntaxError)) throw error;
      }
      if (Date.now() - began > STREAM_SILENCE_MS) failures = 0; // The stream worked.
      await pause(Math.min(pollSeconds, 2 ** failures) * (0.5 + Math.random() / 2), signal);
    }
  }

  /** Concurrent calls share one request. */
  #batchFor(sdk, minAgeDays, size) {
    const key = JSON.stringify([sdk, minAgeDays]);
    let batch = this.#batches.get(key);
    if (batch === undefined || batch.widgets.length + size > MOST_TOGETHER) {
      batch = { widgets: [] };
      batch.answer = pause(BATCH_SECONDS).then(() => {
        if (this.#batches.get(key) === batch) this.#batches.delete(key);
        return this.#resolve({ sdk, minAgeDays, widgets: batch.widgets });
      });
      batch.answer.catch(() => {}); // Waiting callers get the error.
      this.#batches.set(key, batch);
    }
    return batch;
  }

  async #resolve(request, signal) {
    const answer = await this.#ask(this.#address("resolve"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
      signal,
    });
    const isComplete = (it) => isResolved(it) && it.results.length === request.widgets?.length;
    return readJson(answer, isComplete, signal);
  }

  async #load(id, options, finish) {
    const { installed, configVersion, isCounted = true, signal } = options;
    const planAddress = this.#address(`${id}?plan`);
    const kept = await this.#findJson(planAddress, isPlan);
    const revocations = this.#recentRevocations();
    let plan = kept;
    const run = async () => {
      refuseRevoked(id, plan, await revocations);
      return finish(await this.#fetchFiles(plan, signal), plan);
    };
    try {
      let loaded;
      let isOffline = false;
      try {
        plan = await this.#choose(id, options, kept);
        loaded = await run();
      } catch (error) {
        const last = error instanceof Unavailable && kept && keptPlan(kept, options);
        if (!last) throw error;
        [plan, isOffline] = [last, true];
        loaded = await run();
      }
      if (!isOffline) await this.#cached("put", planAddress, new Response(JSON.stringify(plan)));
      if (kept) await this.#forget(kept, plan);
      if (installed === undefined && isCounted) this.#count(id);
      const { asked, ...chosen } = plan;
      const [from, to] = [configVersion ?? asked.configVersion, plan.version.configVersion];
      const configVersionChange = from === undefined || from === to ? null : { from, to };
      return { id, ...chosen, ...loaded, configVersionChange, isOffline };
    } catch (error) {
      if (error instanceof Revoked) {
        await revocations; // Cached by now: it is also rejected while offline.
        if (plan) await this.#forget(plan);
      }
      throw error;
    }
  }

  /** Which version to run, with its files. `kept` is the last plan, if any. */
  async #choose(id, options, kept) {
    const { sdk, installed, range, minAgeDays, accept, acceptPermissions, signal } = options;
    const ask = async (...ranges) => {
      const widgets = ranges.map((it) => ({ id, installed, range: it }));
      return (await this.resolve({ sdk, minAgeDays, widgets }, { signal })).results;
    };
    const within = range ?? `^${installed}`;
    const only = (version) => `${within} ${version}`;
    const ranges = installed ? [range, within] : [range];
    if (installed && accept) {
      const mayLeave = range || accept.reasons.includes("major");
      ranges.push(mayLeave ? accept.version : only(accept.version));
    }
    const [newest, inside = newest, answer] = await ask(...ranges);
    const accepted = isSameVersion(answer?.offer?.version, accept?.version) ? answer : null;
    const current = newest.installed;
    const configVersion = options.configVersion ?? current?.configVersion;
    const reasonsOf = ({ offer, permissionsAdded }) =>
      [
        permissionsAdded.length && "permissions",
        offer === newest.offer && offer.version !== inside.offer?.version && "major",
        configVersion !== undefined && configVersion !== offer.configVersion && "config",
      ].filter((it) => it && installed && !isSameVersion(offer.version, installed));
    const mayTake = (it) => {
      const allowed = it === accepted ? accept?.reasons : acceptPermissions ? ["permissions"] : [];
      return it?.offer && reasonsOf(it).every((one) => allowed.includes(one));
    };
    let taken = [accepted, inside].find(mayTake);
    if (!taken && inside.offer) {
      const { versions } = await this.detail(id, { signal });
      // Npm does not combine hyphen ranges with others.
      const others = within.includes(" - ") ? [] : versions.slice(0, MOST_TOGETHER);
      taken = (await ask(...others.map((it) => only(it.version)), installed)).find(mayTake);
    }
    const isAccepted = taken && taken === accepted;
    const { offer, status, message, permissionsAdded, permissionsRemoved } = isAccepted ? taken : newest;
    const said = { sdk, status, message, permissionsAdded, permissionsRemoved };
    if (status === "unlisted" && installed && isSameVersion(kept?.version.version, installed)) {
      return { ...kept, ...said, update: null }; // It keeps working where it is installed.
    }
    const version = taken?.offer ?? (status === "yanked" ? current : null);
    const isLast = !offer || isSameVersion(version?.version, offer.version);
    const update = isLast ? null : { ...offer, reasons: reasonsOf(newest) };
    if (!version) throw refusal(status, message, { id, sdk, offer, permissionsAdded, update });
    const { files } = await this.version(id, version.version, { signal });
    const url = version.bundleUrl;
    const [expected, actual] = [version.sha256Hash, files.find(isBundle)?.sha256Hash];
    if (actual !== expected) {
      const details = { url, expected, actual };
      throw new IntegrityError(`The bundle of ${id} ${version.version} is not the one offered.`, details);
    }
    const hasConsent = isAccepted || acceptPermissions;
    const asked = { installed, range, configVersion: current?.configVersion, hasConsent };
    return { ...said, version, files, update, asked };
  }

  /** The list, requested once if many widgets are loaded together. */
  #recentRevocations() {
    if (Date.now() - this.#revocations.at > REVOCATIONS_FRESH_MS) {
      const list = this.revocations().then(
        (it) => it.revocations,
        () => [], // Unreachable, and nothing is cached.
      );
      this.#revocations = { at: Date.now(), list };
    }
    return this.#revocations.list;
  }

  async #fetchFiles({ files }, signal) {
    const [bundle, style] = await Promise.all(
      [isBundle, isStyle].map((isWanted) => {
        const file = files.find(isWanted);
        return file ? this.#verified(file, signal) : null;
      }),
    );
    return { bundle, css: style && new TextDecoder().decode(style) };
  }

  async #import({ bundle, css }, { version: { sha256Hash, bundleUrl } }) {
    let imported = this.#modules.get(sha256Hash);
    if (imported === undefined) {
      imported = importBytes(bundle, bundleUrl);
      this.#modules.set(sha256Hash, imported);
      imported.catch(() => this.#modules.delete(sha256Hash));
    }
    const module = await imported;
    let styleSheet = null;
    if (css !== null && typeof CSSStyleSheet === "function") {
      styleSheet = new CSSStyleSheet({ baseURL: new URL("index.css", bundleUrl).href });
      styleSheet.replaceSync(css);
    }
    return { module, bundle, css, styleSheet };
  }

  /** The verified bytes of a file, from the cache or from its URL. */
  async #verified({ url, size, sha256Hash }, signal) {
    const kept = await this.#cached("match", this.#fileKey(url)).then((it) => it?.arrayBuffer());
    if (kept !== undefined && (await sha256(kept)) === sha256Hash) return kept;
    const answer = await this.#ask(url, { signal, gone: Revoked });
    const bytes = await readBytes(answer, size, signal);
    const actual = await sha256(bytes);
    if (actual !== sha256Hash) {
      const details = { url, expected: sha256Hash, actual };
      throw new IntegrityError(`${url} is not what the catalog described.`, details);
    }
    await this.#cached("put", this.#fileKey(url), new Response(bytes));
    return bytes;
  }

  async #count(id) {
    const address = this.#address(pathOf(id));
    const mark = `${address}?counted`;
    if (this.#counted.has(id)) return;
    this.#counted.add(id);
    if (await this.#cached("match", mark)) return;
    await this.#ask(address, { method: "POST", keepalive: true }).then(
      () => this.#cached("put", mark, new Response("")),
      () => this.#counted.delete(id), // The next load retries.
    );
  }

  async *#stream(since, signal) {
    const ending = new AbortController();
    const end = () => ending.abort();
    signal?.addEventListener("abort", end);
    let silence = setTimeout(end, STREAM_SILENCE_MS);
    try {
      const answer = await this.#ask(this.#address(`changes${queryString({ since })}`), {
        headers: { accept: "text/event-stream", "last-event-id": String(since) },
        cache: "no-store",
        signal: ending.signal,
        hasTimeout: false,
        gone: FeedExpired,
      }).catch((error) => {
        if (error instanceof FeedExpired || !(error instanceof CatalogError)) throw error;
      });
      if (!answer?.headers.get("content-type")?.startsWith("text/event-stream")) return;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ""; ; ) {
        const { done, value } = await reader.read().catch(() => ({ done: true }));
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(end, STREAM_SILENCE_MS);
        let changes;
        [changes, rest] = takeChanges(rest + value);
        yield* changes;
      }
    } finally {
      clearTimeout(silence);
      signal?.removeEventListener("abort", end);
      end();
    }
  }

  async *#poll(since, signal) {
    let page = { next: since };
    let before;
    do {
      before = page.next;
      page = await this.changes({ since: before }, { signal });
      if (page.newest < since) throw new FeedExpired(`There is no change ${since} yet.`);
      yield* page.changes;
    } while (page.next > before && page.next < page.newest);
  }

  async #read(path, isExpected, { signal, isKept = false }) {
    const address = this.#address(path);
    try {
      const answer = await this.#ask(address, { signal, gone: FeedExpired });
      const value = await readJson(answer, isExpected, signal);
      if (isKept) await this.#cached("put", address, new Response(JSON.stringify(value)));
      return value;
    } catch (error) {
      const kept = isKept && error instanceof Unavailable && (await this.#findJson(address, isExpected));
      if (!kept) throw error;
      return kept;
    }
  }

  /** The response to a request; throws if it is an error. */
  async #ask(address, { gone = NotFound, hasTimeout = true, signal, ...request } = {}) {
    const signals = [signal, hasTimeout && AbortSignal.timeout(this.#timeoutMs)].filter(Boolean);
    let answer;
    try {
      const rules = { redirect: "manual", signal: AbortSignal.any(signals) };
      answer = await this.#fetch(address, { ...request, ...rules });
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw new Offline(`${address} cannot be reached.`, { cause });
    }
    if (answer.ok) return answer;
    const { status } = answer;
    // Elsewhere may be a host that only this one can reach.
    if (answer.type === "opaqueredirect" || (status >= 300 && status < 400)) {
      throw new Unavailable(`${address} redirects elsewhere, and redirects are not followed.`);
    }
    const message = (await readError(answer)) ?? `${address} answered ${status}.`;
    if (status === 404) throw new NotFound(message, { status });
    if (status === 410) throw new gone(message, { status });
    if (status < 500 && status !== 429) throw new InvalidRequest(message, { status });
    const retryAfterSeconds = Number(answer.headers.get("retry-after")) || null;
    throw new Unavailable(message, { status, retryAfterSeconds });
  }

  /** A static site has other addresses: see static.js. */
  #addressOf(path) {
    return this.#fetch.addressOf?.(path) ?? this.baseUrl + path;
  }

  #address(path) {
    return `${this.baseUrl}/api/v1/widgets/${path}`;
  }

  /** Below this catalog, which could delete what is cached for another one otherwise. */
  #fileKey(url) {
    return this.#address(`?file=${encodeURIComponent(url)}`);
  }

  /** A cache that is full, or fails, is ignored. */
  async #cached(method, ...values) {
    try {
      return await (await this.#cache)?.[method](...values);
    } catch {
      return undefined;
    }
  }

  async #findJson(address, isExpected) {
    const value = await (await this.#cached("match", address))?.json().catch(() => undefined);
    return isExpected(value) ? value : undefined;
  }

  /** Drop the files of a plan that another one does not need. */
  async #forget({ files }, other = { files: [] }) {
    const needed = new Set(other.files.map((it) => it.url));
    for (const { url } of files) {
      if (!needed.has(url)) await this.#cached("delete", this.#fileKey(url));
    }
  }
}
