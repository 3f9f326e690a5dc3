// The client of Widget Catalog for browsers, Node and Bun. client.d.ts says what it does.
// Made of the files in clients/js/src by clients/js/join.py.

export class CatalogError extends Error {
constructor(message, { cause, ...details } = {}) {
super(message, cause === undefined ? undefined : { cause });
this.name = new.target.name;
Object.assign(this, details);
}
}
export class InvalidRequest extends CatalogError {}
export class NotFound extends CatalogError {}
export class Incompatible extends CatalogError {}
export class Revoked extends CatalogError {}
export class IntegrityError extends CatalogError {}
export class ImportFailed extends CatalogError {}
export class FeedExpired extends CatalogError {}
export class Unavailable extends CatalogError {}
export class Offline extends Unavailable {}

const MAX_JSON_BYTES = 64 * 2 ** 20;
const MAX_ERROR_BYTES = 2 ** 20;

function baseOf(address) {
const text = String(address);
try {
const { href } = new URL(text, /^(\/|$)/.test(text) ? globalThis.location?.href : undefined);
if (/^https?:[^@?#]+$/.test(href)) return text.replace(/\/+$/, "");
} catch {}
throw new InvalidRequest(`${text} is not the address of a catalog: write https://catalog.example.`);
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

async function readBytes(answer, most, signal) {
try {
if (!answer.body) return await answer.arrayBuffer();
const reader = answer.body.getReader();
const pieces = [];
for (let size = 0; size <= most; ) {
const { done, value } = await reader.read();
if (done) break;
pieces.push(value);
size += value.length;
}
reader.cancel().catch(() => {});
return await new Blob(pieces).arrayBuffer();
} catch (cause) {
if (signal?.aborted) throw signal.reason;
throw new Offline(`${answer.url} was not received whole.`, { cause });
}
}

async function readJson(answer, isExpected, signal) {
const bytes = await readBytes(answer, MAX_JSON_BYTES, signal);
let value;
try {
value = JSON.parse(new TextDecoder().decode(bytes));
} catch (cause) {
throw new Unavailable(`${answer.url} did not answer with JSON.`, { cause });
}
if (isExpected(value)) return value;
throw new Unavailable(`${answer.url} did not answer as a catalog does.`);
}

async function readError(answer) {
try {
const bytes = await readBytes(answer, MAX_ERROR_BYTES);
const { error } = JSON.parse(new TextDecoder().decode(bytes));
return typeof error === "string" ? error : null;
} catch {
return null;
}
}

const isText = (value) => typeof value === "string";
const isWhole = Number.isSafeInteger;
const isNullOr = (isRight) => (value) => value === null || isRight(value);
const isListOf = (isRight) => (value) => Array.isArray(value) && value.every(isRight);

function has(fields) {
const checks = Object.entries(fields);
return (value) =>
typeof value === "object" && value !== null && checks.every(([key, isRight]) => isRight(value[key]));
}

function isAddress(value) {
try {
return isText(value) && /^https?:$/.test(new URL(value).protocol);
} catch {
return false;
}
}

const isVersion = has({
version: isText,
bundleUrl: isAddress,
sha256Hash: isText,
publishedAt: isText,
permissions: isListOf(isText),
});
const isFile = has({ path: isText, url: isAddress, size: isWhole, sha256Hash: isText });
const isResult = has({
status: isText,
message: isText,
installed: isNullOr(isVersion),
offer: isNullOr(isVersion),
permissionsAdded: isListOf(isText),
permissionsRemoved: isListOf(isText),
});

const isSearch = has({ widgets: isListOf(has({ scope: isText, name: isText })) });
const isDetail = has({ widget: has({ scope: isText, name: isText }), versions: isListOf(isVersion) });
const isVersionDetail = has({ version: isVersion, files: isListOf(isFile) });
const isPlan = has({ version: isVersion, files: isListOf(isFile), asked: has({}) });
const isResolved = has({ results: isListOf(isResult) });
const isRevocations = has({
revision: isWhole,
revocations: isListOf(has({ id: isText, version: isText })),
});
const isChange = has({ seq: isWhole, type: isText, id: isText });
const isChanges = has({ changes: isListOf(isChange), next: isWhole, newest: isWhole });

const MAX_EVENT_LENGTH = 2 ** 20;

function takeChanges(text) {
const events = text.split(/\r?\n\r?\n/);
const rest = events.pop();
if (rest.length > MAX_EVENT_LENGTH) throw new Unavailable("The catalog sends an event without end.");
const changes = [];
for (const event of events) {
const data = event.match(/^data: ?.*/gm)?.map((line) => line.replace(/^data: ?/, ""));
if (data) changes.push(JSON.parse(data.join("\n")));
}
if (!changes.every(isChange)) throw new Unavailable("The catalog sends what is no change.");
return [changes, rest];
}

function pause(seconds, signal) {
return new Promise((done) => {
const timer = setTimeout(end, seconds * 1000);
signal?.addEventListener("abort", end);
if (signal?.aborted) end();
function end() {
clearTimeout(timer);
signal?.removeEventListener("abort", end);
done();
}
});
}

function unlessAborted(work, signal) {
if (!signal) return work;
return new Promise((done, fail) => {
const abort = () => fail(signal.reason);
if (signal.aborted) abort();
signal.addEventListener("abort", abort);
work.then(done, fail).finally(() => signal.removeEventListener("abort", abort));
});
}

const CACHE_NAME = "widget-catalog-1";
const DAY_MS = 86_400_000;
const UNSEEN_AFTER_MS = 500;

function refuseRevoked(id, { version: { version } }, revocations) {
const found = revocations.find((it) => it.id === id && isSameVersion(it.version, version));
if (found) throw new Revoked(`${id} ${version} was revoked: ${found.reason}`, { id });
}

function keptPlan(plan, { sdk, installed, range, minAgeDays = 0, accept, acceptPermissions }) {
const { asked } = plan;
const { version, permissions, publishedAt, configVersion } = plan.version;
if (plan.sdk !== sdk || (range && range !== asked.range)) return null;
const isAskedAgain = isSameVersion(asked.installed, installed);
if (!isSameVersion(version, installed)) {
const hasConsent = !asked.hasConsent || acceptPermissions || isSameVersion(accept?.version, version);
if (installed && !(isAskedAgain && asked.range === range && hasConsent)) return null;
if (Date.parse(publishedAt) > Date.now() - minAgeDays * DAY_MS) return null;
}
if (isAskedAgain) return plan;
const [status, permissionsAdded] = installed ? ["current", []] : ["install", permissions];
const now = { configVersion: installed && configVersion };
return { ...plan, status, permissionsAdded, permissionsRemoved: [], update: null, asked: now };
}

function isSameVersion(one, other) {
return one?.split("+")[0] === other?.split("+")[0];
}

function refusal(status, message, details) {
if (status === "revoked") return new Revoked(message, details);
if (status === "unknown" || status === "unlisted") return new NotFound(message, details);
return new Incompatible(message, details);
}

async function sha256(bytes) {
if (!globalThis.crypto?.subtle) {
throw new CatalogError("Bundles can be checked in secure contexts only: https or localhost.");
}
const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function importBytes(bytes, url) {
const isBrowser = typeof process !== "object" || !process.versions?.node;
const address = isBrowser
? URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }))
: `data:text/javascript;base64,${Buffer.from(bytes).toString("base64")}`;
try {
const module = await import(/* @vite-ignore */ /* webpackIgnore: true */ address);
return isBrowser ? warningIfUnseen(module, url) : module;
} catch (cause) {
throw new ImportFailed(`${url} cannot be imported: ${cause?.message ?? cause}`, { cause });
} finally {
if (isBrowser) URL.revokeObjectURL(address);
}
}

function warningIfUnseen(module, url) {
if (typeof module.mount !== "function" || typeof document !== "object") return module;
const mount = (element, ...rest) => {
const mounted = module.mount(element, ...rest);
setTimeout(() => {
const [box] = element?.getClientRects?.() ?? [];
if (!box || (box.width > 0 && box.height > 0)) return;
const size = `${Math.round(box.width)} × ${Math.round(box.height)} pixels`;
console.warn(`${url} is mounted in an element of ${size}, so it is invisible. Give it a size.`);
}, UNSEEN_AFTER_MS);
return mounted;
};
return { ...module, mount };
}

async function openBrowserCache() {
try {
return await globalThis.caches?.open(CACHE_NAME);
} catch {
return undefined;
}
}

const REVOCATIONS_FRESH_MS = 10_000;
const BATCH_SECONDS = 0.005;
const MOST_TOGETHER = 100;
const STREAM_SILENCE_MS = 45_000;

const isBundle = ({ path }) => path === "index.js";
const isStyle = ({ path }) => path === "index.css";

export class Catalog {
#fetch;
#cache;
#timeoutMs;
#batches = new Map();
#counted = new Set();
#modules = new Map();
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
if (!isForBatch) return this.#resolve(request, signal);
const batch = this.#batchFor(sdk, minAgeDays, widgets.length);
const end = batch.widgets.push(...widgets);
try {
const { results, ...rest } = await unlessAborted(batch.answer, signal);
return { ...rest, results: results.slice(end - widgets.length, end) };
} catch (error) {
const isAlone = batch.widgets.length === widgets.length;
if (isAlone || !(error instanceof InvalidRequest)) throw error;
return this.#resolve(request, signal);
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
if (!(error instanceof Unavailable || error instanceof SyntaxError)) throw error;
}
if (Date.now() - began > STREAM_SILENCE_MS) failures = 0;
await pause(Math.min(pollSeconds, 2 ** failures) * (0.5 + Math.random() / 2), signal);
}
}

#batchFor(sdk, minAgeDays, size) {
const key = JSON.stringify([sdk, minAgeDays]);
let batch = this.#batches.get(key);
if (batch === undefined || batch.widgets.length + size > MOST_TOGETHER) {
batch = { widgets: [] };
batch.answer = pause(BATCH_SECONDS).then(() => {
if (this.#batches.get(key) === batch) this.#batches.delete(key);
return this.#resolve({ sdk, minAgeDays, widgets: batch.widgets });
});
batch.answer.catch(() => {});
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
await revocations;
if (plan) await this.#forget(plan);
}
throw error;
}
}

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
const others = within.includes(" - ") ? [] : versions.slice(0, MOST_TOGETHER);
taken = (await ask(...others.map((it) => only(it.version)), installed)).find(mayTake);
}
const isAccepted = taken && taken === accepted;
const { offer, status, message, permissionsAdded, permissionsRemoved } = isAccepted ? taken : newest;
const said = { sdk, status, message, permissionsAdded, permissionsRemoved };
if (status === "unlisted" && installed && isSameVersion(kept?.version.version, installed)) {
return { ...kept, ...said, update: null };
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

#recentRevocations() {
if (Date.now() - this.#revocations.at > REVOCATIONS_FRESH_MS) {
const list = this.revocations().then(
(it) => it.revocations,
() => [],
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
() => this.#counted.delete(id),
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

#addressOf(path) {
return this.#fetch.addressOf?.(path) ?? this.baseUrl + path;
}

#address(path) {
return `${this.baseUrl}/api/v1/widgets/${path}`;
}

#fileKey(url) {
return this.#address(`?file=${encodeURIComponent(url)}`);
}

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

async #forget({ files }, other = { files: [] }) {
const needed = new Set(other.files.map((it) => it.url));
for (const { url } of files) {
if (!needed.has(url)) await this.#cached("delete", this.#fileKey(url));
}
}
}
