// Whether a widget may make a call: the rules of widget_contract/grants.py. Deny by default: what
// has no rule here is refused, and so is what is not both granted by the page and declared by the
// version.

import { covers, requested } from "./capabilities.js";

// What a service could take for its target, besides the entity that was checked.
const TARGETS = ["entity_id", "device_id", "area_id", "floor_id", "label_id", "target", "__proto__"];
const MOST_HOST_CHARACTERS = 253;
const ENTITY = /^(?=.{3,255}$)([a-z_][a-z0-9_]*)\.[A-Za-z0-9_*]+$/;
const SERVICE = /^([a-z_][a-z0-9_]*)\.([A-Za-z0-9_]{1,64})$/;

const isText = (it) => typeof it === "string";
const no = () => false;
const covering = (needed) => (it) => covers(it, needed);

// By key of the context: whether one permission is enough for a call with these arguments.
const RULES = {
  storage: () => covering("storage"),
  locate: () => covering("geolocation"),
  fetchJson: fetching,
  fetchImage: fetching,
  states: reading,
  watchStates: reading,
  call: acting,
};

// By key of the context: whether one permission, granted or declared, can be enough for any call.
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

/** Names, and capabilities for those that are names of capabilities. */
export function permissionsOf(stated) {
  const some = (Array.isArray(stated) ? stated : []).flatMap((it) =>
    isText(it) ? requested([it]) : Object(it) === it ? [it] : [],
  );
  return some.filter((it) => isText(it) || isWellFormed(it));
}

function isWellFormed({ domain, access, entities, services }) {
  const isList = (it) => (it ?? null) === null || (Array.isArray(it) && it.every(isText));
  return isText(domain) && /^(read|control)$/.test(access) && isList(entities) && isList(services);
}

/** What is in force of a version: what is granted and declared. */
export class Grants {
  #granted;
  #declared;

  constructor(granted, declared) {
    this.#granted = permissionsOf(granted);
    this.#declared = permissionsOf(declared);
  }

  /** Whether a key exists in the context of the widget. */
  offers(key) {
    const isKind = KINDS[key] ?? no;
    const [granted, declared] = [this.#granted, this.#declared].map((some) => some.filter(isKind));
    return granted.some((one) => declared.some((other) => meet(one, other)));
  }

  /** Whether a call with these arguments is granted. */
  allow(key, given) {
    try {
      const isEnough = Object.hasOwn(RULES, key) ? RULES[key](...given) : no;
      return this.#granted.some(isEnough) && this.#declared.some(isEnough);
    } catch {
      return false; // Arguments of the wrong type, or nested too deeply.
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

/** One entity, or a pattern: then the domain has to be granted, and what is found is checked. */
function reading(pattern) {
  const [, domain] = ENTITY.exec(isText(pattern) ? pattern : "") ?? [];
  if (!domain) return no;
  if (pattern.includes("*")) return (it) => it.domain === domain;
  return covering({ domain, access: "read", entities: [pattern] });
}

/** Whether an entity is among those that a pattern names. */
export function isWithin(pattern, entity) {
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
