/**
 * A `fetch` for `new Catalog(baseUrl, { fetch: catalogFetch(baseUrl) })` that works with both kinds
 * of catalogs: a service, and a site of plain files that `widget-catalog site` has made. Of the
 * latter it reads `static.json` once; then it answers searches and `resolve` itself, by the rules
 * of the service. Plain files count no installs, and know no event streams: `watch` polls.
 */
export function catalogFetch(
  baseUrl: string | URL,
  options?: { fetch?: typeof globalThis.fetch },
): typeof globalThis.fetch;

/** How a search compares texts: Unicode NFKC, then case folding. */
export function normal(text: string): string;
