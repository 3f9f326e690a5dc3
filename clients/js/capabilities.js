// When one permission covers another, and how it is described: the rules of
// widget_contract/capabilities.py.

const NAMED = /^(read|control):([a-z_][a-z0-9_]*)$/;
const UNCOUNTABLE = new Set(["climate", "energy", "history", "media", "sun", "weather"]);
const FEW = 5;

const nameOf = (it) => (typeof it === "string" ? it : `${it.access}:${it.domain}`);

/** Whether any of these may come from a capability, which the version's detail describes. */
export function mayBeNarrowed(permissions) {
  return permissions.some((it) => it.startsWith("read:") || it.startsWith("control:"));
}

/** What a version requests: names of permissions, and capabilities. */
export function requested(permissions, { manifest, capabilities } = {}) {
  const declared = Array.isArray(manifest?.permissions) ? manifest.permissions : [];
  return [...new Set(permissions)].flatMap((name) => {
    const stated = (capabilities ?? []).filter((it) => nameOf(it) === name);
    if (stated.length && !declared.includes(name)) return stated;
    const [, access, domain] = NAMED.exec(name) ?? [];
    return [access ? { domain, access } : name, ...stated];
  });
}

/** What the new version requests and no old permission covers, and the reverse. */
export function permissionChanges(old, now) {
  const uncovered = (some, by) => some.filter((it) => !by.some((one) => covers(one, it)));
  return { added: uncovered(now, old), removed: uncovered(old, now) };
}

/** Their names, each once. */
export function namesOf(some) {
  return [...new Set(some.map(nameOf))];
}

export function covers(old, now) {
  if (typeof old === "string" || typeof now === "string") return old === now || wider(now).includes(old);
  return (
    old.domain === now.domain &&
    (old.access === "control" || now.access === "read") &&
    (!old.services || (now.services?.every((it) => old.services.includes(it)) ?? false)) &&
    entities(now).every((it) => entities(old).some((one) => patternCovers(one, it)))
  );
}

/** The permissions for more hosts than this one: of a.b.c `network`, *.b.c and *.c. */
function wider(now) {
  const [, host] = /^network:(.+)/s.exec(now) ?? [];
  const parents = host?.split(".").map((_, at, all) => `network:*.${all.slice(at + 1).join(".")}`);
  return host ? ["network", ...parents.slice(0, -1)] : [];
}

const entities = (it) => it.entities ?? [`${it.domain}.*`];

function patternCovers(old, now) {
  const [oldParts, nowParts] = [old.split("."), now.split(".")];
  return oldParts.length === nowParts.length && oldParts.every((it, at) => partCovers(it, nowParts[at]));
}

/** A `*` of the new pattern is one more letter, which only a `*` of the old one matches. */
function partCovers(old, now) {
  const [first, ...between] = old.split("*");
  if (!between.length) return old === now;
  const last = between.pop();
  let start = first.length;
  const stop = now.length - last.length;
  if (stop < start || !now.startsWith(first) || !now.endsWith(last)) return false;
  for (const it of between) {
    const at = now.indexOf(it, start);
    if (at < 0 || at + it.length > stop) return false;
    start = at + it.length;
  }
  return true;
}

/** A sentence about the new capabilities among these, if there are any. */
export function mayAlso(number, added) {
  const some = added.filter((it) => typeof it !== "string").map((it) => inWords(it, { most: FEW }));
  return some.length ? ` ${number} may also ${listed(some, FEW)}.` : "";
}

/** `translate` fills in the values of a text; a translated domain has its own name, without a plural. */
export function inWords({ domain, access, entities, services }, { most = Infinity, translate } = {}) {
  const said = translate ?? ((text, values) => text.replace(/%\(\w+\)s/, Object.values(values)[0]));
  const named = { domain: translate ? words(domain) : plural(domain) };
  const narrowed = entities ? [listed(entities, most)] : [];
  if (services) narrowed.push(said("only %(services)s", { services: listed(services, most) }));
  const sentence = said(access === "control" ? "control %(domain)s" : "read %(domain)s", named);
  return `${sentence}${narrowed.length ? ` (${narrowed.join("; ")})` : ""}`;
}

function listed(some, most) {
  if (some.length <= most) return some.join(", ");
  return `${some.slice(0, most).join(", ")} and ${some.length - most} more`;
}

const words = (domain) => domain.replace(/^_+|_+$/g, "").replaceAll("_", " ") || domain;

function plural(domain) {
  const named = words(domain);
  if (UNCOUNTABLE.has(named) || named.endsWith("s")) return named;
  if (/(?:ch|sh|x)$/.test(named)) return `${named}es`;
  return /[^aeiou]y$/.test(named) ? `${named.slice(0, -1)}ies` : `${named}s`;
}
