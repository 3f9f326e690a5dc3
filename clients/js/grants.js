// Whether a widget may make a call: the rules of widget_contract/grants.py. Deny by default: what
// has no rule here is refused, and so is what is not both granted by the page and declared by the
// version.

import { covers, requested } from "./capabilities.js";

// The kind of permission that a key of the context needs.
const KINDS = {
  storage: "storage",
  locate: "geolocation",
  fetchJson: "network",
  fetchImage: "network",
  states: "read",
  watchStates: "read",
  call: "control",
};
// What a service could take for its target, besides the entity that was checked.
const TARGETS = ["entity_id", "device_id", "area_id", "floor_id", "label_id", "target", "__proto__"];
const ENTITY = /^(?=.{3,255}$)([a-z_][a-z0-9_]*)\.[A-Za-z0-9_*]+$/;
const SERVICE = /^([a-z_][a-z0-9_]*)\.([A-Za-z0-9_]{1,64})$/;

const no = () => false;
const covering = (needed) => (it) => covers(it, needed);
const isText = (it) => typeof it === "string";
const isObject = (it) => typeof it === "object" && it !== null;
/** Throws if it does not match. */
const parts = (pattern, text) => pattern.exec(isText(text) ? text : "").slice(1);

// One function for each kind: whether one permission is enough for a call with these arguments.
const RULES = {
  storage: () => covering("storage"),
  geolocation: () => covering("geolocation"),
  network(address) {
    const { protocol, hostname, port, username, password } = new URL(address);
    const isPlain = protocol === "https:" && !port && !username && !password;
    return isPlain && hostname.length < 254 ? covering(`network:${hostname}`) : no;
  },
  /** One entity, or a pattern: then the domain has to be granted, and what is found is checked. */
  read(pattern) {
    const [domain] = parts(ENTITY, pattern);
    const needed = { domain, access: "read", entities: [pattern] };
    return pattern.includes("*") ? (it) => it.domain === domain : covering(needed);
  },
  control(service, { entity, data = {} }) {
    const [[domain, name], [own]] = [parts(SERVICE, service), parts(ENTITY, entity)];
    const isData = isObject(data) && !Array.isArray(data) && !hasTarget(data);
    if (domain !== own || entity.includes("*") || !isData) return no;
    const needed = { domain, access: "control", entities: [entity] };
    return (it) => [name, service].some((one) => covers(it, { ...needed, services: [one] }));
  },
};

const hasTarget = (value) =>
  isObject(value) &&
  Object.entries(value).some(([key, it]) => TARGETS.includes(key) || hasTarget(it));

/** What is in force of a version: what is granted and declared. */
export class Grants {
  #both;

  constructor(...both) {
    this.#both = both.map((some) => (Array.isArray(some) ? some : []).flatMap(permissions));
  }

  /** Whether a key exists in the context of the widget. */
  offers(key) {
    const [granted, declared] = this.#both.map((some) => some.filter(isOf(KINDS[key])));
    return granted.some((one) => declared.some((other) => meet(one, other)));
  }

  /** Whether a call with these arguments is granted. */
  allow(key, given) {
    try {
      const isEnough = Object.hasOwn(KINDS, key) ? RULES[KINDS[key]](...given) : no;
      return this.#both.every((some) => some.some(isEnough));
    } catch {
      return false; // Arguments of the wrong type, or nested too deeply.
    }
  }

  /** Whether this entity is one that a pattern names, and may be read. */
  admits(pattern, entity) {
    const [named, one] = [pattern, entity].map((it) => ({ entities: [it], access: "read" }));
    return this.allow("states", [entity]) && covers(named, one);
  }
}

/** Of arguments that are granted, those that the rules have checked. */
export function checked(key, [first, second]) {
  if (key === "locate") return [];
  if (key !== "call") return [key === "states" ? first : new URL(first).href];
  const { entity, data } = second;
  return [first, data ? { entity, data } : { entity }];
}

/** A name, or a capability as an object. Names of capabilities stand for all of a domain. */
function permissions(stated) {
  if (isText(stated)) return requested([stated]);
  const { domain, access, entities, services } = Object(stated);
  const areLists = [entities ?? [], services ?? []].every((it) => Array.isArray(it) && it.every(isText));
  return isText(domain) && /^(read|control)$/.test(access) && areLists ? [stated] : [];
}

const isOf = (kind) => (it) => {
  const own = isText(it) ? it.split(":")[0] : it.access;
  return own === kind || (own === "control" && kind === "read");
};

function meet(one, other) {
  if (isObject(one)) return one.domain === other.domain;
  return covers(one, other) || covers(other, one);
}
