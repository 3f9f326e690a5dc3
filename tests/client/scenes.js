// Scenarios of a dashboard with the client, run in Chromium, Node and Bun.

const failure = (client, promise) =>
  promise.then(
    () => "no error",
    (error) => (error instanceof client.CatalogError ? [error.name, error.message] : String(error)),
  );

export async function reading(client, base) {
  const catalog = new client.Catalog(`${base}/`, { cache: null });
  const fails = (promise) => failure(client, promise);
  const { widgets, total } = await catalog.search({ q: "clock", compatSdk: "1.2.0", scope: null });
  const { versions } = await catalog.detail("@acme/clock");
  const { revocations } = await catalog.revocations();
  const elsewhere = new client.Catalog("http://127.0.0.1:1", { cache: null });
  const pictures = await Promise.all([
    catalog.picture("acme/clock"),
    catalog.picture("acme/clock", { scheme: "dark" }),
    catalog.picture("acme/guard", { scheme: "dark" }),
    catalog.icon("@acme/guard"),
  ]);
  const typeOf = async (address) => (await fetch(address)).headers.get("content-type");
  return {
    pictures: await Promise.all([...new Set(pictures)].map(typeOf)),
    found: [total, widgets[0].latestVersion.version, widgets[0].latestCompatibleVersion.version],
    versions: versions.map((it) => it.version),
    revocations: Array.isArray(revocations),
    unknown: await fails(catalog.detail("acme/nobody")),
    notAnId: await fails(catalog.detail("../../etc")),
    invalid: await fails(catalog.search({ page: 0 })),
    aborted: await fails(catalog.search({}, { signal: AbortSignal.abort("stopped") })),
    offline: await fails(elsewhere.search()),
    notAnAddress: await Promise.all(
      ["localhost:8080", "catalog.example", "ftp://catalog.example", `${base}?a=b`].map((it) =>
        fails(Promise.resolve().then(() => new client.Catalog(it))),
      ),
    ),
  };
}

const tell = ({ version, module, css, styleSheet, status, update, isOffline }) => ({
  version: version.version,
  mounted: module.mount().split(" ")[0],
  style: styleSheet?.cssRules[0].cssText ?? css?.trim() ?? null,
  status,
  update: update?.version ?? null,
  isOffline,
});

export async function loading(client, base) {
  const catalog = new client.Catalog(base);
  const load = (id, options) => catalog.load(`acme/${id}`, options);
  const fails = (promise) => failure(client, promise);
  const countOf = async () => (await catalog.detail("acme/clock")).widget.downloadCount;
  const before = await countOf();
  const [clock, again] = await Promise.all([
    load("clock", { sdk: "1.2.0" }),
    load("clock", { sdk: "1.2.0" }),
  ]);
  const grown = await load("greedy", { sdk: "1.0.0", installed: "1.0.0", acceptPermissions: true });
  const major = { version: "2.0.0", reasons: ["major"] };
  const newSdk = { sdk: "2.0.0", installed: "1.1.0", accept: major };
  const { module, bundle } = await catalog.fetchFiles("acme/broken", { sdk: "1.0.0" });
  const guarded = async (range, installed) => {
    const it = await load("guard", { sdk: "1.0.0", range, installed });
    return [it.version.version, it.update.version, it.permissionsAdded, it.message];
  };
  const found = {
    clock: tell(clock),
    fetched: [typeof module, new TextDecoder().decode(bundle)],
    isOneModule: clock.module === again.module,
    newSdk: tell(await catalog.load("@acme/clock", newSdk)),
    newSdkUnasked: await fails(load("clock", { ...newSdk, accept: undefined })),
    inRange: tell(await load("clock", { sdk: "1.0.0", range: "1.0.x", isCounted: false })),
    current: tell(await load("clock", { sdk: "1.0.0", installed: "1.1.0" })),
    needsConsent: tell(await load("greedy", { sdk: "1.0.0", installed: "1.0.0" })),
    hasConsent: [grown.version.version, grown.permissionsAdded],
    mayControl: await guarded("1.0.x || 1.1.x", "1.0.0"),
    mayControlMore: await guarded("*", "1.1.0"),
    incompatible: await fails(load("clock", { sdk: "9.0.0" })),
    unknown: await fails(load("nobody", { sdk: "1.0.0" })),
    invalid: await fails(load("clock", { sdk: "one" })),
    lie: await fails(load("liar", { sdk: "1.0.0" })),
    broken: (await fails(load("broken", { sdk: "1.0.0" })))[0],
  };
  for (let tries = 0; tries < 50 && (await countOf()) === before; tries++) await pause(100);
  await pause(200);
  return { ...found, counted: (await countOf()) - before };
}

/** For each of these options: the version, what is reported instead of taken, and the settings. */
export async function updating(client, base, many) {
  const found = [];
  for (const options of many) {
    const catalog = new client.Catalog(base, { cache: null });
    const { version, update, permissionsAdded, configVersionChange, migrate } = await catalog
      .load("acme/alarm", { sdk: "1.0.0", isCounted: false, ...options })
      .catch((error) => ({ ...error, version: { version: error.name } }));
    const reported = update && [update.version, ...update.reasons];
    const { from, to } = configVersionChange ?? {};
    const settings = configVersionChange && [from, to, migrate?.({ hour: 7 }, from) ?? null];
    found.push([version.version, reported, permissionsAdded, settings]);
  }
  return found;
}

export async function example(_, address) {
  await import(address);
  return document.body.lastElementChild.textContent.split(" ")[0];
}

/** `place`: the module of the documented cache for Node and Bun, and its folder. */
export async function offline(client, base, bad, place) {
  const cache = place
    ? new (await import(place.module)).FolderCache(place.folder)
    : await caches.open("widget-catalog-1");
  const online = new client.Catalog(base, place ? { cache } : {});
  const loaded = await online.load("acme/clock", { sdk: "1.2.0", isCounted: false });
  await online.load(bad, { sdk: "1.0.0", isCounted: false });
  const catalog = cutOff(client, base, cache);
  const fails = (promise) => failure(client, promise);
  const found = {
    clock: tell(await catalog.load("acme/clock", { sdk: "1.2.0" })),
    otherSdk: (await fails(catalog.load("acme/clock", { sdk: "2.0.0" })))[0],
    neverLoaded: (await fails(catalog.load("acme/liar", { sdk: "1.0.0" })))[0],
    otherOptions: await loadedOffline(client, base, cache),
  };
  const bundle = `${base}/api/v1/widgets/?file=${encodeURIComponent(loaded.version.bundleUrl)}`;
  if (!(await cache.match(bundle))) throw new Error("The bundle is not cached there.");
  await cache.put(bundle, new Response("export const mount = 'evil';"));
  found.tampered = (await fails(catalog.load("acme/clock", { sdk: "1.2.0" })))[0];
  return found;
}

/** Online, then offline with other options: the version that is loaded, or the error. */
async function loadedOffline(client, base, cache) {
  const load = (catalog, options) =>
    catalog.load("acme/greedy", { sdk: "1.0.0", isCounted: false, ...options }).then(
      ({ version, status, permissionsAdded, isOffline, ...rest }) =>
        [version.version, status, permissionsAdded, isOffline, "range" in rest].join(" "),
      (error) => error.name,
    );
  const found = [];
  for (const [before, after] of OFFLINE_PAIRS) {
    await load(new client.Catalog(base, { cache }), before);
    found.push(await load(cutOff(client, base, cache), after));
  }
  return found;
}

// The newest version of this widget is 1.1.0, which needs a permission that 1.0.0 does not.
const consented = { installed: "1.0.0", acceptPermissions: true };
const OFFLINE_PAIRS = [
  [{}, {}],
  [{}, { installed: "1.1.0" }],
  [{}, { installed: "1.1.0+build.5" }],
  [{}, { installed: "1.0.0" }],
  [{}, { installed: "2.0.0" }],
  [{}, { installed: "1.1.0", range: "1.0.x" }],
  [{}, { minAgeDays: 36_500 }],
  [{}, { installed: "1.1.0", minAgeDays: 36_500 }],
  [{ range: "^1.0.0" }, { installed: "1.1.0", range: "^1.0.0" }],
  [{ range: "^1.0.0" }, { installed: "1.1.0" }],
  [{ range: "1.0.x" }, { installed: "1.1.0" }],
  [{ installed: "1.0.0" }, { installed: "1.0.0" }],
  [{ installed: "1.0.0" }, consented],
  [consented, { installed: "1.0.0" }],
  [consented, consented],
  [consented, { installed: "1.1.0" }],
];

/** After `offline`, and after the version was revoked. */
export async function revoked(client, base, bad, place) {
  const cache = place && new (await import(place.module)).FolderCache(place.folder);
  const catalog = new client.Catalog(base, place ? { cache } : {});
  const options = { sdk: "1.0.0", installed: "1.0.0" };
  return {
    online: await failure(client, catalog.load(bad, options)),
    offline: await failure(client, cutOff(client, base, cache ?? undefined).load(bad, options)),
  };
}

/** Somebody's copy of a bundle was revoked: online, and then offline. */
export async function copied(client, base, original, copy, place) {
  const cache = place
    ? new (await import(place.module)).FolderCache(place.folder)
    : await caches.open("widget-catalog-1");
  const online = new client.Catalog(base, { cache });
  const load = (catalog, id) => failure(client, catalog.load(id, { sdk: "1.0.0", isCounted: false }));
  const found = { original: await load(online, original), copy: (await load(online, copy))[0] };
  found.offline = await load(cutOff(client, base, cache), original);
  return found;
}

/** The first change after `since`; `isPolling`: through a proxy without event streams. */
export async function watching(client, base, since, isPolling) {
  const plain = (address, { headers, ...request }) => fetch(address, request);
  const catalog = new client.Catalog(base, isPolling ? { cache: null, fetch: plain } : {});
  // While a stream is open, nothing is polled.
  for await (const change of catalog.watch({ since, pollSeconds: isPolling ? 1 : 600 })) {
    const { type, id, version } = change;
    return [type, id, version];
  }
}

/** How many changes arrive after the loop has wanted three, and how long it takes to end. */
export async function stopping(client, base, isPolling) {
  const plain = (address, { headers, ...request }) => fetch(address, request);
  const catalog = new client.Catalog(base, isPolling ? { cache: null, fetch: plain } : {});
  const stop = new AbortController();
  let seen = 0;
  let at;
  for await (const _ of catalog.watch({ since: 0, signal: stop.signal, pollSeconds: 600 })) {
    if (++seen === 3) {
      stop.abort();
      at = Date.now();
    }
  }
  return { seen, isPrompt: Date.now() - at < 5_000 };
}

/** The same at the last change: whether it ends without waiting for the next poll. */
export async function stoppingAtTheEnd(client, base) {
  const catalog = new client.Catalog(base, { cache: null });
  const { newest } = await catalog.changes();
  const stop = new AbortController();
  const fetch = (address, { headers, ...request }) => globalThis.fetch(address, request);
  const polling = new client.Catalog(base, { cache: null, fetch });
  const options = { since: newest - 1, signal: stop.signal, pollSeconds: 600 };
  let at;
  for await (const _ of polling.watch(options)) {
    stop.abort();
    at = Date.now();
  }
  return Date.now() - at < 400; // The first pause takes at least 500.
}

/** The responses to these searches and resolve requests. */
export async function answering(client, base, searches, resolves) {
  const catalog = new client.Catalog(base, { cache: null });
  const [found, resolved] = [[], []];
  for (const it of searches) found.push(await catalog.search(it));
  for (const it of resolves) resolved.push(await catalog.resolve(it));
  return [found, resolved];
}

/** Requests with keys that the API does not know. */
export async function misspelled(client, base) {
  const catalog = new client.Catalog(base, { cache: null });
  const widgets = [{ id: "acme/clock", version: "1.0.0" }];
  return [
    await failure(client, catalog.resolve({ sdk: "1.0.0", widgets })),
    await failure(client, catalog.resolve({ sdk: "1.0.0", widgets: [], min_age_days: 3 })),
    await failure(client, catalog.resolve({ sdk: "1.0.0", widgets: [], colour: "red" })),
  ];
}

export async function refused(client, base, id) {
  const catalog = new client.Catalog(base, { cache: null });
  return failure(client, catalog.load(id, { sdk: "1.0.0", installed: "1.0.0" }));
}

/** A static host that is busy at the first request. */
export async function busyAtFirst(client, base) {
  let asked = 0;
  const fetch = (address, request) =>
    asked++ ? globalThis.fetch(address, request) : new Response("busy", { status: 503 });
  const catalog = new client.Catalog(base, { fetch });
  const find = async () => (await catalog.search({ q: "clock" })).widgets.map((it) => it.name);
  return [await find().catch((error) => [error.name, error.status]), await find()];
}

/** The normal forms of these texts, and every character whose normal form differs. */
export async function folding(_, module, texts) {
  const { normal } = await import(module);
  const characters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));
  // Most code points are unassigned or for private use, and stay as they are.
  const assigned = characters.filter((it) => !/[\p{Cn}\p{Co}]/u.test(it));
  return [texts.map(normal), assigned.map((it) => [it, normal(it)]).filter(([a, b]) => a !== b)];
}

/** The vectors of the contract: validity and order of versions, and what ranges admit. */
export async function versions(_, module, ranges, { valid, invalid, ascending, same }) {
  const { compare, fits, parseVersion } = await import(module);
  const isVersion = (text) => {
    try {
      return Boolean(parseVersion(text));
    } catch {
      return false;
    }
  };
  const order = (a, b) => Math.sign(compare(parseVersion(a).key, parseVersion(b).key));
  return {
    admits: ranges.map(({ range, sdk }) => fits(range, parseVersion(sdk))),
    wrong: [
      ...valid.filter((it) => !isVersion(it)),
      ...invalid.filter(isVersion),
      ...ascending.slice(1).filter((it, at) => order(ascending[at], it) !== -1),
      ...same.filter(([a, b]) => order(a, b) !== 0).flat(),
    ],
  };
}

/** The vectors of the contract: covering, and the changes between two manifests. */
export async function capabilities(_, module, covering, comparing) {
  const { covers, mayAlso, namesOf, permissionChanges, requested } = await import(module);
  const asked = (manifest) => {
    const { permissions = [], capabilities = [] } = manifest;
    const names = namesOf(capabilities).filter((it) => !permissions.includes(it));
    return requested([...permissions, ...names], { manifest, capabilities });
  };
  return [
    covering.map(({ old, new: now }) => covers(old, now)),
    comparing.map(({ old, new: now }) => {
      const { added, removed } = permissionChanges(asked(old), asked(now));
      return [namesOf(added), namesOf(removed), mayAlso("2.0.0", added)];
    }),
  ];
}

/** Every change after `since`, until the catalog rejects the request. */
export async function together(client, base) {
  let requests = 0;
  const fetch = (...request) => {
    requests++;
    return globalThis.fetch(...request);
  };
  const catalog = new client.Catalog(base, { cache: null, fetch });
  const ask = async (sdk, ...widgets) =>
    (await catalog.resolve({ sdk, widgets })).results.map((it) => it.id);
  const [a, b, c] = ["acme/a", "acme/b", "acme/c"].map((id) => ({ id }));
  const good = await Promise.all([ask("1.0.0", a), ask("1.0.0", b, c), ask("2.0.0", c)]);
  const forGood = requests;
  const mixed = await Promise.all([
    ask("1.0.0", a),
    failure(client, ask("1.0.0", { id: "acme/b", range: "nonsense" })),
  ]);
  const stopped = { signal: AbortSignal.abort("stopped") };
  const aborted = failure(client, catalog.resolve({ sdk: "1.0.0", widgets: [a] }, stopped));
  return { good, forGood, mixed: [mixed[0], mixed[1][0]], aborted: await aborted };
}

export async function following(client, base, since) {
  const seen = [];
  const follow = async () => {
    const catalog = new client.Catalog(base);
    for await (const { seq } of catalog.watch({ since, pollSeconds: 0.1 })) seen.push(seq);
  };
  return [await failure(client, follow()), seen];
}

/** The errors of a catalog that sends what no catalog sends. */
export async function hostile(client, base) {
  const catalog = new client.Catalog(base);
  return [
    await failure(client, catalog.search()),
    await failure(client, catalog.fetchFiles("acme/clock", { sdk: "1.0.0", isCounted: false })),
  ];
}

/** A catalog states files that it does not need later: what is left of what was cached. */
export async function forgetting(client, base, elsewhere) {
  const cached = new Map([[elsewhere, new Response("{}")]]);
  const cache = {
    match: async (url) => cached.get(url)?.clone(),
    put: async (url, response) => void cached.set(url, response),
    delete: async (url) => cached.delete(url),
  };
  const catalog = new client.Catalog(base, { cache });
  for (let i = 0; i < 2; i++) {
    await catalog.fetchFiles("acme/clock", { sdk: "1.0.0", isCounted: false });
  }
  return cached.has(elsewhere);
}

function cutOff({ Catalog }, base, cache) {
  const fetch = () => Promise.reject(new TypeError("There is no network."));
  return new Catalog(base, { cache, fetch });
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
