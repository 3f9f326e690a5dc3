// What a widget may ask of the page: calls are checked, answered by the page's functions or by the
// defaults here, and limited in time and number.

import { fetchImage, fetchJson, storageOf } from "./defaults.js";
import { isWithin } from "./grants.js";

const SECOND_MS = 1_000;
const ANSWER_WITHIN_S = 10;
const PERSON_WITHIN_S = 120; // Somebody may be asked.
const MOST_ASKED = 32; // At the same time.
const MOST_WATCHED = 100;
const GRANTED = ["storage", "fetchJson", "fetchImage", "locate", "states", "watchStates", "call"];

export class Bridge {
  #host;
  #grants;
  #send;
  #report;
  #asked = 0;
  #stops = new Map(); // What ends each subscription.

  /** `send` posts to the frame, `report` tells the page what went wrong. */
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

  /** What the frame begins with. */
  async begin() {
    const isThere = (key) => this.#host[key] !== undefined;
    const free = ["data", "watch"].filter(isThere);
    const keys = [...free, ...GRANTED.filter((key) => isThere(key) && this.#grants.offers(key))];
    const data = { ...this.#host.data };
    const all = keys.includes("storage") ? await within(ANSWER_WITHIN_S, this.#host.storage.all()) : {};
    const stored = Object.entries(all ?? {}).map(([key, value]) => [key, JSON.stringify(value)]);
    return { keys, data, stored: stored.filter(([, text]) => text !== undefined) };
  }

  /** Keeps the frame's copy of the data up to date. */
  follow() {
    if (!this.#host.watch) return;
    for (const topic of Object.keys(this.#host.data ?? {})) this.#watch({ key: "watch", topic });
  }

  /** The milliseconds that the page's clock is ahead of this machine's. */
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
    if (key === "watchStates") this.#stop(`${key} ${topic}`); // Others keep the data up to date.
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

  /** The states that may be read among those that the page has found. */
  #permitted(pattern, found) {
    if (!Array.isArray(found)) throw new Error("The page did not answer with a list of states.");
    return found
      .map(({ entity, state, attributes }) => ({ entity, state, attributes }))
      .filter(({ entity }) => isWithin(pattern, entity) && this.#grants.allow("states", [entity]));
  }
}

/** The arguments that the rules have checked, and nothing else. */
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

export const said = (fault) => {
  try {
    return String(fault?.message ?? fault).slice(0, 300);
  } catch {
    return "";
  }
};
