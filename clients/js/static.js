// Static catalogs: computes here what the service would compute. See static.d.ts.

import { mayAlso, mayBeNarrowed, namesOf, permissionChanges, requested } from "./capabilities.js";
import { compare, fits, parseRange, parseVersion } from "./semver.js";

const FORMAT = 1;
const API = "/api/v1/widgets/";
const FRESH_MS = 60_000;
const DAY_MS = 86_400_000;

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** A `fetch` for the client that supports both kinds of catalogs. */
export function catalogFetch(
  baseUrl,
  { fetch = (...it) => globalThis.fetch(...it), searchesNames = false } = {},
) {
  const base = String(baseUrl).replace(/\/+$/, "");
  const files = new StaticCatalog(base, fetch, searchesNames);
  let isStatic = null;
  // A busy host does not tell which kind it is: its response.
  const learn = async (signal) => {
    if (isStatic !== null) return null;
    const mark = await files.mark(signal);
    if (mark.status === 429 || mark.status >= 500) return mark;
    const { format } = mark.ok ? await mark.json().catch(() => ({})) : {};
    isStatic = Number.isInteger(format);
    return null;
  };
  const answer = async (address, request = {}) => {
    const url = String(address);
    if (!url.startsWith(base + API)) return fetch(address, request);
    const busy = await learn(request.signal);
    if (busy) return busy;
    if (!isStatic) return fetch(address, request);
    return files.answer(new URL(url.slice(base.length), "http://x"), request);
  };
  /** For the client: the address of what a service has at this path. */
  const addressOf = async (path) => {
    await learn().catch(() => {}); // The picture cannot be loaded either.
    return isStatic ? files.addressOf(path) : base + path;
  };
  return Object.assign(answer, { addressOf });
}

class StaticCatalog {
  #base;
  #fetch;
  #searchesNames;
  #index = { at: -Infinity, widgets: null };

  constructor(base, fetch, searchesNames) {
    this.#base = base;
    this.#fetch = fetch;
    this.#searchesNames = searchesNames;
  }

  /** The file that only static catalogs have. */
  mark(signal) {
    return this.#fetch(`${this.#base}/static.json`, { signal, cache: "no-cache" });
  }

  async addressOf(path) {
    const [, kind, scope, name, scheme] = path.split("/");
    if (kind !== "pictures") return this.#base + path;
    const widgets = await this.#widgets().catch(() => []);
    const found = widgets.find((it) => it[0] === scope && it[1] === name)?.[7];
    // Sites written before 0.2.0 have no pictures in their index.
    const [light, dark = light] = Array.isArray(found) ? found : [];
    const picture = (scheme === "dark" ? dark : light) ?? `${path}.svg`;
    return picture.startsWith("/") ? this.#base + picture : picture;
  }

  async answer({ pathname, searchParams }, { method = "GET", body, signal }) {
    try {
      signal?.throwIfAborted();
      const key = pathname.slice(API.length);
      return reply(200, await this.#value(key, searchParams, { method, body, signal }));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return error.answer ?? reply(error.status, { error: error.message });
    }
  }

  async #value(key, query, { method, body, signal }) {
    if (key === "search") return this.#search(query, signal);
    if (key === "resolve") return this.#resolve(JSON.parse(body), signal);
    if (key === "changes") return this.#changes(query, signal);
    if (key === "revocations") return this.#read(key, signal);
    if (method === "POST") return { success: false }; // Static catalogs count nothing.
    const [scope, name, version] = key.split("/").map(decodeURIComponent);
    const id = `${scope}/${name}`;
    if (version === undefined) {
      return this.#read(id, signal, `There is no widget '${id}'.`);
    }
    const missing = `There is no version '${version}' of ${id}.`;
    return this.#read(`${id}/${identity(version)}`, signal, missing);
  }

  async #read(path, signal, missing) {
    const answer = await this.#fetch(`${this.#base}${API}${path}.json`, {
      signal,
      cache: "no-cache",
    });
    // Some hosts return 403 for missing files.
    if (missing && (answer.status === 404 || answer.status === 403)) {
      throw new Refused(404, missing);
    }
    if (!answer.ok) throw Object.assign(new Refused(answer.status, ""), { answer });
    return answer.json();
  }

  async #search(query, signal) {
    const wanted = parseSearch(query);
    const found = matches((await this.#widgets(signal)).filter(wanted.isAsked), wanted.q);
    const { page, limit } = wanted;
    const shown = found.slice((page - 1) * limit, page * limit);
    const widgets = await Promise.all(
      shown.map(async ([scope, name]) => {
        const { widget, versions } = await this.#read(`${scope}/${name}`, signal);
        const { createdAt, ...summary } = widget;
        const offered = versions.filter((it) => !it.yanked);
        summary.latestVersion = offered[0] ?? null;
        if (wanted.sdk) {
          const runs = (it) => fits(it.sdkVersion, wanted.sdk);
          summary.latestCompatibleVersion = offered.find(runs) ?? null;
        }
        return summary;
      }),
    );
    return { widgets, total: found.length, page, limit };
  }

  async #widgets(signal) {
    if (Date.now() - this.#index.at > FRESH_MS) {
      const { widgets } = await this.#read("search", signal);
      for (const it of widgets) {
        const label = this.#searchesNames ? ` @${it[0]}/${it[1]} ${it[6]?.join(" ") ?? ""}` : "";
        it.push(normal(it[2]), normal((it[3] ?? "") + label));
      }
      this.#index = { at: Date.now(), widgets };
    }
    return this.#index.widgets;
  }

  async #changes(query, signal) {
    const since = whole("since", query.get("since") ?? "0", 0);
    const limit = Math.min(whole("limit", query.get("limit") ?? "100", 1), 1000);
    const { changes, newest } = await this.#read("changes", signal);
    const first = changes[0]?.seq ?? newest + 1;
    if (since < first - 1) {
      throw new Refused(410, `Changes after ${since} are not kept. Start from the registry.`);
    }
    const page = changes.filter((it) => it.seq > since).slice(0, limit);
    return { changes: page, next: page.at(-1)?.seq ?? since, newest };
  }

  async #resolve(request, signal) {
    const asked = parseResolve(request);
    const [{ revocations, revision }, ...details] = await Promise.all([
      this.#read("revocations", signal),
      ...asked.widgets.map(({ id }) => this.#detailOrNull(id, signal)),
    ]);
    const gone = new Set();
    if (details.includes(null)) {
      for (const { id, listed } of (await this.#read("changes", signal)).changes) {
        listed ? gone.delete(id) : gone.add(id);
      }
    }
    const results = await Promise.all(
      asked.widgets.map((it, at) =>
        resolved(it, asked, details[at], revocations, gone.has(it.id), {
          requestedBy: (one) => this.#requested(it.id, one, signal),
          styleOf: (one) => this.#style(it.id, one, signal),
        }),
      ),
    );
    return { sdk: request.sdk, revision, results };
  }

  /** The permissions of a version, if any, with its capabilities in full. */
  async #requested(id, version, signal) {
    const permissions = version?.permissions ?? [];
    if (!mayBeNarrowed(permissions)) return requested(permissions);
    const full = await this.#detailOrNull(`${id}/${identity(version.version)}`, signal);
    return requested(permissions, full ?? {});
  }

  /** The URL of the style sheet of a version, if it has one. */
  async #style(id, { version }, signal) {
    const full = await this.#detailOrNull(`${id}/${identity(version)}`, signal);
    return full?.files.find(({ path }) => path === "index.css")?.url;
  }

  #detailOrNull(id, signal) {
    return this.#read(id, signal, "-").catch((error) => {
      if (error.status === 404) return null;
      throw error;
    });
  }
}

/** What to do about one widget: the rules of `resolve`, with the messages of the service. */
async function resolved(
  { id, version, range },
  { sdk, newest },
  detail,
  revocations,
  isGone,
  { requestedBy, styleOf },
) {
  const number = version?.text ?? "";
  const isRevoked = (it) =>
    revocations.some((one) => one.id === id && identity(one.version) === identity(it));
  const nothing = { id, installed: null, offer: null, latestVersion: null };
  const plain = { permissionsAdded: [], permissionsRemoved: [] };
  if (detail === null) {
    const [status, message] =
      version && isRevoked(number)
        ? ["revoked", `${id} ${number} was revoked: unload it. There is no other version that fits.`]
        : isGone
          ? ["unlisted", `${id} is no longer listed: what is installed can stay, without updates.`]
          : ["unknown", `This catalog does not know ${id}.`];
    return order({ ...nothing, ...plain, status, message });
  }
  const { versions } = detail;
  const installed = versions.find((it) => version && identity(it.version) === identity(number)) ?? null;
  const isOffered = (it) =>
    !it.yanked &&
    fits(it.sdkVersion, sdk) &&
    (range === null || range.admits(parseVersion(it.version))) &&
    (it === installed || newest === null || it.publishedAt <= newest);
  const offer = versions.find(isOffered) ?? null;
  const latestVersion = versions.find((it) => !it.yanked)?.version ?? null;
  // Published earlier, and with a lower number: 2.0.0 is no downgrade from a later 1.3.0.
  const isOlder =
    installed !== null &&
    offer !== null &&
    versions.indexOf(offer) > versions.indexOf(installed) &&
    compare(parseVersion(offer.version).key, parseVersion(installed.version).key) < 0;
  const status =
    installed && isRevoked(number) ? "revoked" : statusOf(version, installed, offer, isOlder);
  let message = sentence(id, status, number, offer, { sdk, range, installed });
  let changes = plain;
  if (offer && offer !== installed) {
    const both = await Promise.all([installed, offer].map(requestedBy));
    const { added, removed } = permissionChanges(...both);
    changes = { permissionsAdded: namesOf(added), permissionsRemoved: namesOf(removed) };
    if (installed) message += mayAlso(offer.version, added);
  }
  const [from, to] = [installed, offer].map((it) => it?.configVersion);
  const hasChange = installed && offer && from !== to;
  const configVersionChange = hasChange ? { from, to } : null;
  const cssUrl = offer && (await styleOf(offer));
  const offered = cssUrl ? { ...offer, cssUrl } : offer;
  const found = { id, status, installed, offer: offered, latestVersion, ...changes, message };
  return order({ ...found, configVersionChange });
}

/** The keys in the order of the wire. */
function order({ id, status, installed, offer, latestVersion, ...rest }) {
  const { permissionsAdded, permissionsRemoved, message, configVersionChange = null } = rest;
  const changes = { permissionsAdded, permissionsRemoved };
  return { id, status, installed, offer, latestVersion, ...changes, message, configVersionChange };
}

function statusOf(version, installed, offer, isOlder) {
  if (installed?.yanked) return "yanked";
  if (offer === null) return "incompatible";
  if (version === null) return "install";
  if (offer === installed) return "current";
  return isOlder ? "incompatible" : "update"; // An update is never an older version.
}

function sentence(id, status, number, offer, { sdk, range, installed }) {
  const other = offer?.version ?? "";
  if (status === "current") return `${id} ${number} is up to date.`;
  if (status === "install") return `${id} ${other} can be installed.`;
  if (status === "incompatible" && other) {
    return `${id} ${number} does not fit; ${other}, an older version, does.`;
  }
  if (status === "incompatible") {
    return `No version of ${id}${range ? " in this range" : ""} runs on SDK ${sdk.text}.`;
  }
  if (status === "update") {
    if (!installed) return `${id} ${number} is not known here. ${other} can be installed.`;
    return `${id} can be updated from ${number} to ${other}.`;
  }
  const instead = other ? `Use ${other} instead.` : "There is no other version that fits.";
  return status === "revoked"
    ? `${id} ${number} was revoked: unload it. ${instead}`
    : `${id} ${number} was taken back by its author. ${instead}`;
}

const KEYS = ["sdk", "widgets", "minAgeDays"];
const WIDGET_KEYS = ["id", "installed", "range"];
const MEANT = { sdkVersion: "sdk", compatSdk: "sdk", minAge: "minAgeDays" };
const WIDGET_MEANT = {
  name: "id",
  widget: "id",
  widgetId: "id",
  version: "installed",
  installedVersion: "installed",
  versionRange: "range",
};

function unknownKeys(given, known, meant, at = "") {
  const bare = (key) => key.replace(/[_ -]/g, "").toLowerCase();
  return Object.keys(given)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const right = meant[key] ?? known.find((it) => bare(it) === bare(key));
      const isFree = right && !(right in given);
      const hint = isFree ? `did you mean ${right}?` : `known are ${known.join(", ")}.`;
      return `${at}${key}: is an unknown key; ${hint}`;
    });
}

function parseResolve(request) {
  const { sdk, minAgeDays, widgets } = request;
  const faults = unknownKeys(request, KEYS, MEANT);
  for (const [at, it] of (widgets ?? []).entries()) {
    faults.push(...unknownKeys(it, WIDGET_KEYS, WIDGET_MEANT, `widgets[${at}].`));
  }
  const parsed = (at, parse, value) => {
    if (value === undefined || value === null) return null;
    try {
      return parse(value);
    } catch (error) {
      faults.push(`${at}: ${error.message}`);
      return null;
    }
  };
  const asked = {
    sdk: parsed("sdk", parseVersion, sdk ?? ""),
    newest: minAgeDays ? new Date(Date.now() - minAgeDays * DAY_MS).toISOString() : null,
    widgets: (widgets ?? []).map(({ id, installed, range }, at) => ({
      id,
      version: parsed(`widgets[${at}].installed`, parseVersion, installed),
      range: parsed(`widgets[${at}].range`, parseRange, range),
    })),
  };
  if (faults.length) throw new Refused(400, faults.join(" "));
  for (const it of asked.widgets) if (it.range?.isAny) it.range = null;
  return asked;
}

function parseSearch(query) {
  const text = (query.get("q") ?? "").replace(OUTER_BLANKS, "");
  if ([...text].length > 256) throw new Refused(400, "q is too long; 256 characters are searched for.");
  const [scope, official, compat] = ["scope", "official", "compatSdk"].map((it) => query.get(it));
  if (official !== null && !/^(true|false)$/i.test(official)) {
    throw new Refused(400, "official must be true or false.");
  }
  let sdk = null;
  try {
    sdk = compat === null ? null : parseVersion(compat);
  } catch {
    const rule = "a semantic version with all three numbers, such as 1.2.0";
    throw new Refused(400, `compatSdk must be ${rule}.`);
  }
  const isOfficial = official === null ? null : official.toLowerCase() === "true";
  return {
    q: normal(text),
    sdk,
    page: whole("page", query.get("page") ?? "1", 1),
    limit: Math.min(whole("limit", query.get("limit") ?? "20", 1), 100),
    isAsked: (it) =>
      (scope === null || it[0] === scope) && (isOfficial === null || (it[4] ?? false) === isOfficial),
  };
}

/** The matches, in the order of the service. The input is sorted by downloads. */
function matches(widgets, q) {
  const terms = q.split(BLANKS).filter(Boolean);
  if (!terms.length) return widgets;
  const ranked = [[], [], [], [], []];
  for (const it of widgets) {
    const [name, about] = it.slice(-2);
    if (!terms.every((term) => name.includes(term) || about.includes(term))) continue;
    const words = name.split(BLANKS);
    const begins = (term) => words.some((word) => word.startsWith(term));
    const rank =
      name === q ? 0
      : name.startsWith(q) ? 1
      : terms.every(begins) ? 2
      : terms.every((term) => name.includes(term)) ? 3
      : 4; // prettier-ignore
    ranked[rank].push(it);
  }
  return ranked.flat();
}

const BLANK = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const BLANKS = new RegExp(BLANK, "u");
const OUTER_BLANKS = new RegExp(`^${BLANK}|${BLANK}$`, "gu");

/**
 * Normal form for comparing: NFKD, without combining marks, NFKC, then case folding, for which
 * JavaScript has no function.
 */
export function normal(text) {
  // Upper case unifies what lower case keeps separate (ß and ss); except for the dotless i.
  const folded = (it) => (it === "ı" ? it : it.toLowerCase().toUpperCase().toLowerCase());
  const plain = text.normalize("NFKD").replace(/[\u0300-\u036f]+/g, "").normalize("NFKC");
  return Array.from(plain, folded).join("").replaceAll("ς", "σ");
}

function identity(version) {
  return version.replace(/\+.*$/s, "");
}

function whole(name, text, least) {
  const isWhole = /^[0-9]+$/.test(text) && Number(text) >= least;
  if (isWhole) return Number(text);
  throw new Refused(
    400,
    least
      ? `${name} must be a whole number of at least 1.`
      : `${name} must be the number of a change: a whole number from 0.`,
  );
}

function reply(status, value) {
  const headers = { "content-type": "application/json; charset=utf-8" };
  return new Response(JSON.stringify(value), { status, headers });
}
