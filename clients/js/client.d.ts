import type {
  Change,
  Changes,
  PublishedFile,
  ResolveRequest,
  ResolveResult,
  Resolved,
  Revocations,
  SearchQuery,
  SearchResults,
  VersionDetail,
  VersionEntry,
  WidgetDetail,
} from "./api.js";

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

  /** One version with its manifest and files. Without a connection: as it was when last read. */
  version(id: string, version: string, options?: RequestOptions): Promise<VersionDetail>;

  /** What to do about these widgets with this SDK: at most 500 of them. */
  resolve(request: ResolveRequest, options?: RequestOptions): Promise<Resolved>;

  /** Bundles that must not run. Without a connection: as they were when last read. */
  revocations(options?: RequestOptions): Promise<Revocations>;

  /** One page of what has changed in the catalog. */
  changes(query?: ChangesQuery, options?: RequestOptions): Promise<Changes>;

  /**
   * Choose the version of a widget for an SDK, fetch its files, check them, and import the module.
   *
   * Without `installed` it takes the version that `resolve` offers, and counts an install, once.
   * With `installed` it updates to the offer, unless that asks for more permissions: then the
   * installed version is loaded, and `update` is the offer. Without a connection it loads what it
   * loaded last for this SDK, from the cache.
   *
   * @throws {NotFound} The catalog does not know the widget, or does not list it any more.
   * @throws {Incompatible} No version fits the SDK and the range.
   * @throws {Revoked} The version must not run. Unload it.
   * @throws {IntegrityError} A file is not what the catalog described. Nothing of it was run.
   * @throws {ImportFailed} The bundle is no module that runs here, or a Content-Security-Policy
   *   forbids it.
   * @throws {Offline} No connection, and nothing in the cache.
   */
  load<Module = import("./widget.js").WidgetModule>(
    id: string,
    options: LoadOptions,
  ): Promise<LoadedWidget<Module>>;

  /**
   * The same as `load`, but nothing is imported: the checked bytes, to run them elsewhere, such as
   * in a sandboxed frame.
   */
  fetchFiles(id: string, options: LoadOptions): Promise<FetchedWidget>;

  /**
   * Every change of the catalog from now on, or after the change number `since`: by an event
   * stream, or by polling where there is none. It reconnects, and goes on where it was.
   * It ends when `signal` is aborted.
   *
   * @throws {FeedExpired} `since` is older than what the catalog keeps: read everything again.
   */
  watch(options?: WatchOptions): AsyncGenerator<Change, void, undefined>;
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

export interface ChangesQuery {
  /** Only what came after this number. */
  since?: number;
  /** How many at most. */
  limit?: number;
}

export interface LoadOptions extends RequestOptions {
  /** The SDK that the dashboard implements, such as `2.1.0`. */
  sdk: string;
  /** The version that the user has installed, if any: `version.version` of the last load. */
  installed?: string;
  /** Only versions in this range, such as `^1.0.0`. */
  range?: string;
  /** Only versions that were published at least so many days ago. */
  minAgeDays?: number;
  /** Update also where the new version asks for more permissions; default false. */
  acceptPermissions?: boolean;
  /** Whether a load without `installed` counts as an install; default true. */
  isCounted?: boolean;
}

export interface FetchedWidget {
  id: string;
  /** The version that was loaded. Keep its number, and give it as `installed` next time. */
  version: VersionEntry;
  /** The bytes of the bundle, which are what the catalog described. */
  bundle: ArrayBuffer;
  /** The text of the version's style sheet, if it has one. */
  css: string | null;
  /** Where the files are. */
  files: PublishedFile[];
  /** The SDK that it was chosen for. */
  sdk: string;
  /** What the catalog said of the installed version. */
  status: ResolveResult["status"];
  /** The same as a sentence for people. */
  message: string;
  /** A newer version that was not loaded, because it asks for `permissionsAdded`. */
  update: VersionEntry | null;
  /** Permissions that the offered version asks for and the installed one does not. */
  permissionsAdded: string[];
  permissionsRemoved: string[];
  /** Whether the catalog was not reached, so that this is what was loaded last. */
  isOffline: boolean;
}

export interface LoadedWidget<Module> extends FetchedWidget {
  /** What the bundle exports. */
  module: Module;
  /** The style sheet, ready for `adoptedStyleSheets`; null outside browsers. */
  styleSheet: CSSStyleSheet | null;
}

export interface WatchOptions extends RequestOptions {
  /** Number of the last change that is known; without it, only what comes from now on. */
  since?: number;
  /** The longest pause between two attempts to connect or to poll; default 30. */
  pollSeconds?: number;
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

/** No version of the widget fits. */
export class Incompatible extends CatalogError {
  readonly id: string;
  readonly sdk: string;
  /** A version that would fit, but asks for `permissionsAdded`. */
  readonly offer: VersionEntry | null;
  readonly permissionsAdded: string[];
}

/** The operator of the catalog has revoked the version: it must not run. */
export class Revoked extends CatalogError {
  readonly id?: string;
  /** Another version to use in its place, if one fits. */
  readonly offer?: VersionEntry | null;
}

/** A file is not what the catalog described. */
export class IntegrityError extends CatalogError {
  readonly url: string;
  /** SHA-256 in hexadecimal. */
  readonly expected: string;
  readonly actual: string;
}

/** The module could not be imported; `cause` says why. */
export class ImportFailed extends CatalogError {}

/** The catalog does not keep changes from so long ago. */
export class FeedExpired extends CatalogError {}

/** The catalog cannot answer at the moment. */
export class Unavailable extends CatalogError {
  readonly retryAfterSeconds?: number | null;
}

/** The catalog, or the host of a bundle, cannot be reached. */
export class Offline extends Unavailable {}
