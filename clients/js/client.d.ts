import type { Revocations, SearchQuery, SearchResults, WidgetDetail } from "./api.js";

export type * from "./api.js";
export type * from "./widget.js";

/** One catalog, for as long as a page or a process lives. */
export class Catalog {
  /**
   * @param baseUrl Where the catalog is, such as `https://catalog.example`.
   */
  constructor(baseUrl: string | URL, options?: CatalogOptions);

  readonly baseUrl: string;

  /** One page of the widgets that match. */
  search(query?: SearchQuery, options?: RequestOptions): Promise<SearchResults>;

  /** A widget with all its versions. Without a connection: as it was when last read. */
  detail(id: string, options?: RequestOptions): Promise<WidgetDetail>;

  /** Bundles that must not run. Without a connection: as they were when last read. */
  revocations(options?: RequestOptions): Promise<Revocations>;
}

export interface CatalogOptions {
  /** In place of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Where answers and bundles are kept. Browsers: Cache Storage. Elsewhere, or `null`: nowhere. */
  cache?: CatalogCache | null;
  /** How long an answer may take; default 10,000. */
  timeoutMs?: number;
}

/** The part of the `Cache` interface that the client needs. */
export interface CatalogCache {
  match(url: string): Promise<Response | undefined>;
  put(url: string, response: Response): Promise<void>;
  delete(url: string): Promise<boolean>;
}

export interface RequestOptions {
  signal?: AbortSignal;
}

/** Every failure of the client is one of these. */
export class CatalogError extends Error {
  /** The status that the catalog answered with, if it did. */
  readonly status?: number;
}

/** The request is wrong: the message says how. Asking again does not help. */
export class InvalidRequest extends CatalogError {}

/** There is no such widget or version, or it is not listed. */
export class NotFound extends CatalogError {}

/** The catalog cannot answer at the moment. */
export class Unavailable extends CatalogError {
  readonly retryAfterSeconds?: number | null;
}

/** The catalog, or the host of a bundle, cannot be reached. */
export class Offline extends Unavailable {}
