// Runs widgets of Widget Catalog in sandboxed frames. sandbox.d.ts says what it does.
// Made of the files in clients/js/src by clients/js/join.py.

import { covers, mayBeNarrowed, requested } from "./capabilities.js";
import { CatalogError, InvalidRequest, Revoked, Unavailable } from "./client.js";

async function bytesOf(answer, most) {
const reader = answer.body.getReader();
const pieces = [];
for (let left = most, it; !(it = await reader.read()).done; pieces.push(it.value)) {
left -= it.value.length;
if (left >= 0) continue;
reader.cancel().catch(() => {});
throw new Error(`The answer is larger than ${most} bytes.`);
}
return new Blob(pieces).arrayBuffer();
}

const TARGETS = ["entity_id", "device_id", "area_id", "floor_id", "label_id", "target", "__proto__"];
const MOST_HOST_CHARACTERS = 253;
const ENTITY = /^(?=.{3,255}$)([a-z_][a-z0-9_]*)\.[A-Za-z0-9_*]+$/;
const SERVICE = /^([a-z_][a-z0-9_]*)\.([A-Za-z0-9_]{1,64})$/;

const isText = (it) => typeof it === "string";
const no = () => false;
const covering = (needed) => (it) => covers(it, needed);

const RULES = {
storage: () => covering("storage"),
locate: () => covering("geolocation"),
fetchJson: fetching,
fetchImage: fetching,
states: reading,
watchStates: reading,
call: acting,
};

const isNetwork = (it) => /^network(:|$)/.test(it);
const isCapability = (it) => !isText(it);
const KINDS = {
storage: (it) => it === "storage",
locate: (it) => it === "geolocation",
fetchJson: isNetwork,
fetchImage: isNetwork,
states: isCapability,
watchStates: isCapability,
call: (it) => isCapability(it) && it.access === "control",
};

function permissionsOf(stated) {
const some = (Array.isArray(stated) ? stated : []).flatMap((it) =>
isText(it) ? requested([it]) : Object(it) === it ? [it] : [],
);
return some.filter((it) => isText(it) || isWellFormed(it));
}

function isWellFormed({ domain, access, entities, services }) {
const isList = (it) => (it ?? null) === null || (Array.isArray(it) && it.every(isText));
return isText(domain) && /^(read|control)$/.test(access) && isList(entities) && isList(services);
}

class Grants {
#granted;
#declared;

constructor(granted, declared) {
this.#granted = permissionsOf(granted);
this.#declared = permissionsOf(declared);
}

offers(key) {
const isKind = KINDS[key] ?? no;
const [granted, declared] = [this.#granted, this.#declared].map((some) => some.filter(isKind));
return granted.some((one) => declared.some((other) => meet(one, other)));
}

allow(key, given) {
try {
const isEnough = Object.hasOwn(RULES, key) ? RULES[key](...given) : no;
return this.#granted.some(isEnough) && this.#declared.some(isEnough);
} catch {
return false;
}
}
}

function meet(one, other) {
if (isCapability(one) && isCapability(other)) return one.domain === other.domain;
return covers(one, other) || covers(other, one);
}

function fetching(address) {
const { protocol, hostname, port, username, password } = new URL(address);
const isPlain = protocol === "https:" && !port && !username && !password;
if (!isPlain || hostname.length > MOST_HOST_CHARACTERS) return no;
return covering(`network:${hostname}`);
}

function reading(pattern) {
const [, domain] = ENTITY.exec(isText(pattern) ? pattern : "") ?? [];
if (!domain) return no;
if (pattern.includes("*")) return (it) => it.domain === domain;
return covering({ domain, access: "read", entities: [pattern] });
}

function isWithin(pattern, entity) {
const [, domain] = ENTITY.exec(isText(entity) ? entity : "") ?? [];
if (!domain || entity.includes("*")) return false;
const all = { domain, access: "read" };
return covers({ ...all, entities: [pattern] }, { ...all, entities: [entity] });
}

function acting(service, { entity, data = {} } = {}) {
const [, domain, name] = SERVICE.exec(isText(service) ? service : "") ?? [];
const [, own] = ENTITY.exec(isText(entity) ? entity : "") ?? [];
if (!domain || domain !== own || entity.includes("*") || !isData(data) || hasTarget(data)) return no;
const call = { domain, access: "control", entities: [entity] };
return (it) => [name, service].some((one) => covers(it, { ...call, services: [one] }));
}

const isData = (it) => typeof it === "object" && it !== null && !Array.isArray(it);

function hasTarget(value) {
if (typeof value !== "object" || value === null) return false;
return Object.entries(value).some(([key, it]) => TARGETS.includes(key) || hasTarget(it));
}

const JSON_BYTES = 1_000_000;
const IMAGE_BYTES = 5_000_000;
const STORED_CHARACTERS = 65_536;

async function fetchJson(address) {
const [bytes] = await fetched(address, JSON_BYTES);
return JSON.parse(new TextDecoder().decode(bytes));
}

async function fetchImage(address) {
const [bytes, type] = await fetched(address, IMAGE_BYTES);
if (!/^image\/[\w.+-]+$/.test(type)) throw new Error("The answer is no image.");
return new Blob([bytes], { type });
}

async function fetched(address, most) {
const signal = AbortSignal.timeout(10_000);
const rules = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error", signal };
const answer = await fetch(address, rules);
if (!answer.ok) throw new Error(`The host answered ${answer.status}.`);
const bytes = await bytesOf(answer, most);
return [bytes, (answer.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase()];
}

function storageOf(baseUrl, id, instance = "") {
const place = `widget-catalog ${baseUrl} ${id} ${instance}`;
const all = () => {
try {
return Object(JSON.parse(localStorage.getItem(place)));
} catch {
return {};
}
};
return {
all,
set(key, value) {
const entries = Object.entries(all()).filter(([name]) => name !== key);
if (value !== undefined) entries.push([key, value]);
const text = JSON.stringify(Object.fromEntries(entries));
if (text.length > 2 * STORED_CHARACTERS) throw new Error("A widget can store 64 KB, and no more.");
localStorage.setItem(place, text);
},
};
}

const SECOND_MS = 1_000;
const ANSWER_WITHIN_S = 10;
const PERSON_WITHIN_S = 120;
const MOST_ASKED = 32;
const MOST_WATCHED = 100;
const GRANTED = ["storage", "fetchJson", "fetchImage", "locate", "states", "watchStates", "call"];

class Bridge {
#host;
#grants;
#send;
#report;
#asked = 0;
#stops = new Map();

constructor({ host, baseUrl, id, instance }, grants, send, report) {
this.#host = { fetchJson, fetchImage, storage: storageOf(baseUrl, id, instance) };
this.#grants = grants;
this.#send = send;
this.#report = report;
for (const key of ["data", "watch", "now", ...GRANTED]) {
const own = host?.[key];
if (own) this.#host[key] = typeof own === "function" ? own.bind(host) : own;
}
}

async begin() {
const isThere = (key) => this.#host[key] !== undefined;
const free = ["data", "watch"].filter(isThere);
const keys = [...free, ...GRANTED.filter((key) => isThere(key) && this.#grants.offers(key))];
const data = { ...this.#host.data };
const all = keys.includes("storage") ? await within(ANSWER_WITHIN_S, this.#host.storage.all()) : {};
const stored = Object.entries(all ?? {}).map(([key, value]) => [key, JSON.stringify(value)]);
return { keys, data, stored: stored.filter(([, text]) => text !== undefined) };
}

follow() {
if (!this.#host.watch) return;
for (const topic of Object.keys(this.#host.data ?? {})) this.#watch({ key: "watch", topic });
}

offset() {
try {
return this.#host.now ? this.#host.now().getTime() - Date.now() : 0;
} catch {
return 0;
}
}

hear({ type, ...message }) {
if (type === "ask") this.#answer(message);
if (type === "watch") this.#watch(message);
if (type === "unwatch") this.#unwatch(message);
if (type === "store") this.#store(message);
}

end() {
for (const name of this.#stops.keys()) this.#stop(name);
}

async #answer({ id, key, given }) {
try {
this.#send({ type: "answer", id, value: await this.#ask(key, given) });
} catch (fault) {
const error = said(fault);
this.#report("host", `${key}: ${error}`);
this.#send({ type: "answer", id, error });
}
}

async #ask(key, given) {
const isCall = GRANTED.includes(key) && typeof this.#host[key] === "function" && key !== "watchStates";
if (!isCall || !Array.isArray(given) || !this.#grants.allow(key, given)) {
throw new Error("This is not granted to the widget.");
}
if (this.#asked >= MOST_ASKED) throw new Error("The widget asks for too much at once.");
const seconds = key === "call" || key === "locate" ? PERSON_WITHIN_S : ANSWER_WITHIN_S;
this.#asked += 1;
try {
const value = await within(seconds, this.#host[key](...checked(key, given)));
return key === "states" ? this.#permitted(given[0], value) : value;
} finally {
this.#asked -= 1;
}
}

#watch({ key, topic }) {
const name = `${key} ${topic}`;
const isAllowed = key === "watch" || (key === "watchStates" && this.#grants.allow(key, [topic]));
if (typeof topic !== "string" || this.#stops.has(name) || this.#stops.size >= MOST_WATCHED) return;
try {
if (!isAllowed || !this.#host[key]) throw new Error("This is not granted to the widget.");
this.#stops.set(name, () => {});
const stop = this.#host[key](topic, (value) => this.#tell(key, topic, value));
this.#stops.set(name, stop);
} catch (fault) {
this.#report("host", `${key}: ${said(fault)}`);
}
}

#tell(key, topic, found) {
if (!this.#stops.has(`${key} ${topic}`)) return;
try {
const value = key === "watchStates" ? this.#permitted(topic, found) : found;
this.#send({ type: "event", key, topic, value });
} catch (fault) {
this.#report("host", `${key}: ${said(fault)}`);
}
}

#unwatch({ key, topic }) {
if (key === "watchStates") this.#stop(`${key} ${topic}`);
}

#stop(name) {
const stop = this.#stops.get(name);
this.#stops.delete(name);
try {
stop?.();
} catch (fault) {
this.#report("host", said(fault));
}
}

async #store({ entries }) {
try {
if (!this.#grants.offers("storage") || !Array.isArray(entries)) return;
for (const [key, text] of entries) {
const value = text === null ? undefined : JSON.parse(text);
await within(ANSWER_WITHIN_S, this.#host.storage.set(String(key), value));
}
} catch (fault) {
this.#report("host", `storage: ${said(fault)}`);
}
}

#permitted(pattern, found) {
if (!Array.isArray(found)) throw new Error("The page did not answer with a list of states.");
return found
.map(({ entity, state, attributes }) => ({ entity, state, attributes }))
.filter(({ entity }) => isWithin(pattern, entity) && this.#grants.allow("states", [entity]));
}
}

function checked(key, [first, second]) {
if (key === "locate") return [];
if (key !== "call") return [key.startsWith("fetch") ? new URL(first).href : first];
const { entity, data } = second;
return [first, data === undefined ? { entity } : { entity, data }];
}

function within(seconds, work) {
let timer;
const late = new Promise((_, fail) => {
const error = new Error(`The page did not answer within ${seconds} seconds.`);
timer = setTimeout(() => fail(error), seconds * SECOND_MS);
});
return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

const said = (fault) => {
try {
return String(fault?.message ?? fault).slice(0, 300);
} catch {
return "";
}
};

const RETRY_MS = 30_000;
const LOOK_EVERY_MS = 5_000;
const SLEPT_MS = 20_000;

const followed = new WeakMap();

const keyOf = (id, version) => `${id}@${version.split("+")[0]}`;

function followRevocations(catalog, id, version, onRevoked) {
const stream = followed.get(catalog) ?? new Stream(catalog);
followed.set(catalog, stream);
return stream.add({ key: keyOf(id, version), onRevoked });
}

class Stream {
#catalog;
#revoked = new Map();
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
} catch {}
setTimeout(() => signal.aborted || this.#again(), RETRY_MS);
}

#endRevoked() {
for (const { key, onRevoked } of this.#running) {
if (this.#revoked.has(key)) onRevoked(this.#revoked.get(key));
}
}
}

async function filesOf(options) {
if (options.files) return ofPage(options.files);
const { catalog, id, version, signal } = options;
if (version !== undefined) return exactly(catalog, id, version, signal);
const loaded = await catalog.fetchFiles(id, options);
const { permissions, configVersion } = loaded.version;
const isNarrowed = mayBeNarrowed(permissions);
const detail = isNarrowed ? await catalog.version(id, loaded.version.version, { signal }) : {};
return { ...loaded, configVersion, declared: requested(permissions, detail) };
}

function ofPage({ bundle, css = null, manifest = {} }) {
if (!bundle) throw new InvalidRequest("`files` needs a bundle.");
const { permissions, capabilities, configVersion = null } = manifest;
const listed = (it) => (Array.isArray(it) ? it : []);
const declared = [...listed(permissions), ...listed(capabilities)];
return { bundle, css, version: null, configVersion, declared };
}

async function exactly(catalog, id, number, signal) {
const detail = await catalog.version(id, number, { signal });
const { version, files, revoked } = detail;
if (revoked) throw new Revoked(`${id} ${number} was revoked: ${revoked.reason}`, { id });
const [bundle, css] = await Promise.all(
["index.js", "index.css"].map((path) => {
const file = files.find((it) => it.path === path);
return file ? verified(file, signal) : null;
}),
);
const declared = requested(version.permissions, detail);
const { configVersion } = version;
return { bundle, css: css && new TextDecoder().decode(css), version, configVersion, declared };
}

async function verified({ url, size, integrity }, signal) {
const rules = { integrity, credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" };
try {
const answer = await fetch(url, { ...rules, signal });
if (answer.ok) return await bytesOf(answer, size);
} catch {}
signal?.throwIfAborted();
throw new Unavailable(`${url} cannot be fetched, or is not what the catalog described.`);
}

const PROTOCOL = 1;
const TICK_MS = 1_000;
const ASLEEP_MS = 3_000;
const READY_WITHIN_MS = 10_000;
const BLOCKED_MS = 2_500;
const SILENT_MS = 5_000;
const MESSAGES_A_SECOND = 100;
const MESSAGE_CHARACTERS = 262_144;
const REPORTS = 20;

const N_ = (text) => text;
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
const QUOTED = ["load", "migrate", "mount", "fault"];

export class SandboxError extends CatalogError {}

const byElement = new WeakMap();
const widgets = new Set();
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
#configVersion = null;
#unfollow = null;
#hasLoaded = false;
#isBlocked = false;
#onReady;
#outcome;
#stage = "frame";
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
this.#frame.remove();
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

#settleReady() {
if (this.#stage === "files" && this.#hasLoaded) this.#onReady();
}

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
return;
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
if (this.#window.length > 0) return this.end("frames"), true;
this.#send({ type: "ping", offset: this.#bridge.offset() });
return waited < SILENT_MS;
}

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
