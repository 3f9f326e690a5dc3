import type { Catalog, Fetch } from "./client.js";

/**
 * A `fetch` for `new Catalog(baseUrl, { fetch: catalogFetch(baseUrl) })` that works with both kinds
 * of catalogs: a service, and a static site created by `widget-catalog site`. For the latter it
 * reads `static.json` once, and computes searches and `resolve` itself, with the rules of the
 * service. Static sites count no installs, and have no event streams: `watch` polls.
 *
 * `searchesNames`: on a static site, searches also look at scope, name, names in other languages
 * and keywords, like a search page.
 */
export function catalogFetch(
  baseUrl: ConstructorParameters<typeof Catalog>[0],
  options?: { fetch?: Fetch; searchesNames?: boolean },
): Fetch;

/** How a search compares texts: without case, accents and width; vectors/folding.json has the rule. */
export function normal(text: string): string;
