// What a dashboard does with the client. Chromium, Node and Bun play the same scenes.

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
  return {
    found: [total, widgets[0].latestVersion.version, widgets[0].latestCompatibleVersion.version],
    versions: versions.map((it) => it.version),
    revocations,
    unknown: await fails(catalog.detail("acme/nobody")),
    notAnId: await fails(catalog.detail("../../etc")),
    invalid: await fails(catalog.search({ page: 0 })),
    aborted: await fails(catalog.search({}, { signal: AbortSignal.abort("stopped") })),
    offline: await fails(elsewhere.search()),
  };
}
