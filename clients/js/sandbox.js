// Runs widgets of Widget Catalog in sandboxed frames. sandbox.d.ts says what it does.
// Made of the files in clients/js/src by clients/js/join.py.

import { mayBeNarrowed, requested } from "./capabilities.js";
import { CatalogError, InvalidRequest, Revoked, Unavailable } from "./client.js";
import { bytesOf, fetchImage, fetchJson, fetchPlainly, storageOf } from "./defaults.js";
import { checked, Grants } from "./grants.js";

const ANSWER_WITHIN_S = 10;
const PERSON_WITHIN_S = 120;
const MOST_ASKED = 32;
const MOST_WATCHED = 100;
const MOST_STORED = 1_000;
const FREE = ["data", "watch"];
const ASKED = ["fetchJson", "fetchImage", "locate", "states", "call"];
const WATCHED = ["watch", "watchStates"];
const KEYS = ["data", "storage", ...ASKED, ...WATCHED];

class Bridge {
#host;
#grants;
#send;
#report;
#asked = 0;
#stops = new Map();

constructor({ host, catalog, id, instance }, grants, send, report) {
this.#host = { fetchJson, fetchImage, storage: storageOf(catalog?.baseUrl, id, instance) };
for (const key of ["now", ...KEYS]) {
const own = host?.[key];
if (own) this.#host[key] = typeof own === "function" ? own.bind(host) : own;
}
this.#grants = grants;
this.#send = send;
this.#report = report;
}

async begin() {
const isOffered = (key) => this.#host[key] && (FREE.includes(key) || this.#grants.offers(key));
const keys = KEYS.filter(isOffered);
const all = keys.includes("storage") ? await within(ANSWER_WITHIN_S, this.#host.storage.all()) : {};
const stored = Object.entries(all).map(([key, value]) => [key, JSON.stringify(value)]);
return { keys, data: { ...this.#host.data }, stored, offset: this.offset() };
}

follow() {
const { watch, data } = this.#host;
for (const topic in watch && data) this.hear({ type: "watch", key: "watch", topic });
}

offset() {
try {
return this.#host.now().getTime() - Date.now();
} catch {
return 0;
}
}

async hear({ type, id, key, given, topic, entries }) {
const tell = (more) => this.#send({ type: "answer", id, ...more });
try {
if (type === "ask") tell({ value: await this.#answer(key, given) });
if (type === "watch") await this.#watch(key, topic);
if (type === "unwatch" && key === "watchStates") this.#stop(`${key} ${topic}`);
if (type === "store") await this.#store(entries);
} catch (fault) {
const error = said(fault);
this.#report("host", `${said(key ?? type)}: ${error}`);
if (type === "ask") tell({ error });
}
}

end() {
for (const name of this.#stops.keys()) this.#stop(name);
}

async #answer(key, given) {
this.#check(key, given, ASKED);
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

#check(key, given, keys) {
const isAllowed = key === "watch" ? typeof given[0] === "string" : this.#grants.allow(key, given);
if (isAllowed && keys.includes(key) && this.#host[key]) return;
throw new Error("This is not granted to the widget.");
}

async #watch(key, topic) {
this.#check(key, [topic], WATCHED);
const name = `${key} ${topic}`;
if (this.#stops.has(name) || this.#stops.size >= MOST_WATCHED) return;
this.#stops.set(name, null);
const tell = (found) => {
const value = key === "watch" ? found : this.#permitted(topic, found);
if (this.#stops.has(name)) this.#send({ type: "event", key, topic, value });
};
const stop = await this.#host[key](topic, (found) => this.#reporting(key, () => tell(found)));
if (this.#stops.has(name)) this.#stops.set(name, stop);
else stop?.();
}

#stop(name) {
this.#reporting(name, this.#stops.get(name) ?? (() => {}));
this.#stops.delete(name);
}

#reporting(key, work) {
try {
work();
} catch (fault) {
this.#report("host", `${key}: ${said(fault)}`);
}
}

async #store(entries) {
this.#check("storage", [], ["storage"]);
if (entries.length > MOST_STORED) throw new Error("The widget asks for too much at once.");
const { storage } = this.#host;
const set = async ([key, text]) => storage.set(key, text ? JSON.parse(text) : undefined);
await within(ANSWER_WITHIN_S, Promise.all(entries.map(set)));
}

#permitted(pattern, found) {
return found
.filter(({ entity }) => this.#grants.admits(pattern, entity))
.map(({ entity, state, attributes = {} }) => ({ entity, state, attributes }));
}
}

function within(seconds, work) {
const error = new Error(`The page did not answer within ${seconds} seconds.`);
return Promise.race([work, new Promise((_, fail) => setTimeout(fail, seconds * 1_000, error))]);
}

function said(fault) {
try {
return `${fault?.message ?? fault}`.slice(0, 300);
} catch {
return "";
}
}

const RETRY_MS = 30_000;

const streams = new Map();
const keyOf = (id, version) => `${id.replace("@", "")}@${version.split("+")[0]}`;

function followRevocations(catalog, id, version, onRevoked) {
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

function reconnect() {
for (const stream of streams.values()) stream.follow();
}

class Stream {
widgets = new Set();
ending = new AbortController();
#catalog;
#revoked = new Map();

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
} catch {}
setTimeout(() => signal.aborted || this.follow(), RETRY_MS);
}

endRevoked() {
for (const { key, onRevoked } of this.widgets) {
if (this.#revoked.has(key)) onRevoked(this.#revoked.get(key));
}
}
}

async function filesOf(options) {
const { catalog, id, version, signal, files, configVersion } = options;
const given = files ? ofPage(files) : version && (await exactly(catalog, id, version, signal));
if (given) {
const to = given.configVersion ?? null;
const isOther = configVersion !== undefined && configVersion !== to;
return { ...given, configVersionChange: isOther ? { from: configVersion, to } : null };
}
const loaded = await catalog.fetchFiles(id, options);
const { permissions } = loaded.version;
const isNarrowed = mayBeNarrowed(permissions);
const detail = isNarrowed ? await catalog.version(id, loaded.version.version, { signal }) : {};
return { ...loaded, declared: requested(permissions, detail) };
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
return { bundle, css, version, configVersion: version.configVersion, declared };
}

async function verified({ url, size, integrity }, signal) {
try {
return await bytesOf(await fetchPlainly(url, { integrity, signal }), size);
} catch (cause) {
const message = `${url} cannot be fetched, or is not what the catalog described.`;
throw new Unavailable(message, { cause });
}
}

const PROTOCOL = 1;
const TICK_MS = 1_000;
const PAUSED_MS = 3_000;
const START_WITHIN_MS = 10_000;
const SILENT_MS = 5_000;
const QUIET_MS = 2_500;
const RESTART_AFTER_MS = 500;
const MESSAGES_A_SECOND = 100;
const MESSAGE_CHARACTERS = 262_144;
const REPORTS = 20;

const N_ = (text) => text;
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
const OF_WIDGET = ["load", "contract", "migrate", "mount", "fault", "frames", "hints", "left"];

export class SandboxError extends CatalogError {}

const byElement = new WeakMap();
const widgets = new Set();
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
#window;
#port;
#bridge;
#unfollow;
#change;
#isLoaded = false;
#isReady = false;
#onReady;
#outcome;
#answerBy = Infinity;
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
const isReady = this.#open();
const frame = this.#frame;
this.#files ??= filesOf(this.#options);
const [files] = await Promise.all([this.#files, isReady]);
if (frame === this.#frame) await this.#run(files);
}

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

#keep = (change) => Object.assign(this.#options, change);

#clear() {
this.isRunning = false;
this.heardAt = this.#answerBy = Infinity;
this.#bridge?.end();
this.#unfollow?.();
this.#port?.close();
this.#port = this.#window = undefined;
this.#frame?.remove();
this.#frame = null;
}

end(reason, detail = "", error = null) {
if (!widgets.delete(this)) return;
this.#clear();
const isStop = reason === "stopped" || reason === "removed";
const sentence = error && reason === "load" ? said(error) : this.#sentence(reason, detail);
this.#say(isStop ? "stopped" : "failed", reason, sentence);
if (error?.update) this.#tell(this.#options.onUpdate, error.update);
this.#outcome.fail(error ?? new SandboxError(sentence, { reason }));
}

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

check(now) {
this.#received = 0;
if (!this.#window) return true;
if (!this.#isThere()) this.end("removed");
else if (this.#port && this.#window.length > 0) this.end("frames");
else if (!this.#isReady && now > this.#answerBy) this.end("frame", this.#frame.src);
this.#port?.postMessage({ type: "ping", offset: this.#bridge.offset() });
return now <= this.#answerBy || !widgets.has(this);
}

excuse(now) {
if (this.#answerBy < now + SILENT_MS) this.#answerBy = now + SILENT_MS;
}
}

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
