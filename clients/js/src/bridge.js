// What a widget may ask of the page: calls are checked, answered by the page's functions or by the
// defaults, and limited in time and number.

import { fetchImage, fetchJson, storageOf } from "./defaults.js";
import { checked } from "./grants.js";

const ANSWER_WITHIN_S = 10;
const PERSON_WITHIN_S = 120; // Somebody may be asked.
const MOST_ASKED = 32; // At the same time.
const MOST_WATCHED = 100;
const MOST_STORED = 1_000; // By one message.
const FREE = ["data", "watch"];
const ASKED = ["fetchJson", "fetchImage", "locate", "states", "call"];
const WATCHED = ["watch", "watchStates"];
const KEYS = ["data", "storage", ...ASKED, ...WATCHED];

export class Bridge {
  #host;
  #grants;
  #send;
  #report;
  #asked = 0;
  #stops = new Map(); // What ends each subscription, by key and topic.

  /** `send` posts to the frame, `report` tells the page what went wrong. */
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

  /** What the frame begins with. */
  async begin() {
    const isOffered = (key) => this.#host[key] && (FREE.includes(key) || this.#grants.offers(key));
    const keys = KEYS.filter(isOffered);
    const all = keys.includes("storage") ? await within(ANSWER_WITHIN_S, this.#host.storage.all()) : {};
    const stored = Object.entries(all).map(([key, value]) => [key, JSON.stringify(value)]);
    return { keys, data: { ...this.#host.data }, stored, offset: this.offset() };
  }

  /** Keeps the frame's copy of the data up to date. */
  follow() {
    const { watch, data } = this.#host;
    for (const topic in watch && data) this.hear({ type: "watch", key: "watch", topic });
  }

  /** The milliseconds that the page's clock is ahead of this machine's. */
  offset() {
    try {
      return this.#host.now().getTime() - Date.now();
    } catch {
      return 0; // It has none.
    }
  }

  async hear({ type, id, key, given, topic, entries }) {
    const tell = (more) => this.#send({ type: "answer", id, ...more });
    try {
      if (type === "ask") tell({ value: await this.#answer(key, given) });
      if (type === "watch") await this.#watch(key, topic);
      // Topics go on, to keep the data up to date.
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
    else stop?.(); // It has ended meanwhile.
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

  /** The states that may be read among those that the page has found. */
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

export function said(fault) {
  try {
    return `${fault?.message ?? fault}`.slice(0, 300);
  } catch {
    return "";
  }
}
