import type {
  Change,
  Changes,
  ConfigVersionChange,
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

/**
 * A class of the platform, from TypeScript's `dom` library or from the types of Node or Bun;
 * without any of them, `Otherwise`. So these types work with `"lib": ["ES2022"]` too.
 */
type Platform<Name extends string, Otherwise> = typeof globalThis extends {
  [name in Name]: { prototype: infer Type };
}
  ? Type
  : Otherwise;

/** The type of the global `fetch`. */
export type Fetch = typeof globalThis extends { fetch: infer Type }
  ? Type
  : (address: any, request?: any) => Promise<any>;

/** One catalog, for as long as a page or a process lives. */
export class Catalog {
  /**
   * @param baseUrl URL of the catalog, such as `https://catalog.example`.
   * @throws {InvalidRequest} It is not an http or https URL.
   */
  constructor(baseUrl: string | Platform<"URL", never>, options?: CatalogOptions);

  readonly baseUrl: string;

  /** One page of search results. */
  search(query?: SearchQuery, options?: RequestOptions): Promise<SearchResults>;

  /** A widget with all its versions. Offline: the last response. */
  detail(id: string, options?: RequestOptions): Promise<WidgetDetail>;

  /** One version with its manifest and files. Offline: the last response. */
  version(id: string, version: string, options?: RequestOptions): Promise<VersionDetail>;

  /** What to do about these widgets with this SDK: at most 500 of them. */
  resolve(request: ResolveRequest, options?: RequestOptions): Promise<Resolved>;

  /** Bundles that must not run. Offline: the last response. */
  revocations(options?: RequestOptions): Promise<Revocations>;

  /** One page of the catalog's changes. */
  changes(query?: ChangesQuery, options?: RequestOptions): Promise<Changes>;

  /**
   * Select the version of a widget for an SDK, fetch and verify its files, and import the module.
   *
   * Without `installed` it loads the version that `resolve` offers, and counts an install, once.
   * With `installed` it updates inside npm's `^installed`, or inside `range`. An offer that adds
   * permissions, leaves `^installed`, or has another `configVersion` than the saved settings is not
   * taken: it is `update`, and the newest version that needs no consent is loaded. `accept` takes
   * the reported one. Offline it loads what it loaded last, from the cache, if that fits the
   * options: the same SDK and range, and the installed version or an update that was taken for it.
   *
   * @throws {NotFound} The widget does not exist, or is no longer listed.
   * @throws {Incompatible} No version is compatible with the SDK and the range.
   * @throws {Revoked} The version must not run. Unload it.
   * @throws {IntegrityError} A file does not match its hash. It was not run.
   * @throws {ImportFailed} The bundle cannot be imported, or a Content-Security-Policy forbids it.
   * @throws {Offline} No connection, and nothing in the cache that fits the options.
   */
  load<Module = import("./widget.js").WidgetModule>(
    id: string,
    options: LoadOptions,
  ): Promise<LoadedWidget<Module>>;

  /**
   * The same as `load`, without importing: the verified bytes, to run them elsewhere, such as in a
   * sandboxed frame.
   */
  fetchFiles(id: string, options: LoadOptions): Promise<FetchedWidget>;

  /**
   * The address of a widget's picture, for `<img>`: a thumbnail, or its icon on a board of its size.
   * It asks the catalog nothing; a static site is asked for its index, once.
   */
  picture(id: string, options?: { scheme?: "light" | "dark" }): Promise<string>;

  /** The address of a widget's icon, an SVG. */
  icon(id: string): Promise<string>;

  /**
   * Every change of the catalog from now on, or after the change number `since`: by an event
   * stream, or by polling if there is none. It reconnects, and resumes where it was.
   * It ends when `signal` is aborted: no change is yielded after that.
   *
   * @throws {FeedExpired} The changes after `since` are no longer available: read everything again.
   */
  watch(options?: WatchOptions): AsyncGenerator<Change, void, undefined>;
}

export interface CatalogOptions {
  /** Replaces the global `fetch`. */
  fetch?: Fetch;
  /** Cache of responses and bundles. Browsers: Cache Storage. Elsewhere, or `null`: none. */
  cache?: CatalogCache | null;
  /** Timeout of a request; default 10,000. */
  timeoutMs?: number;
}

/** The part of the `Cache` interface that the client needs. */
export interface CatalogCache {
  match(url: string): Promise<Platform<"Response", any> | undefined>;
  put(url: string, response: Platform<"Response", any>): Promise<void>;
  delete(url: string): Promise<boolean>;
}

export interface RequestOptions {
  signal?: Platform<"AbortSignal", any>;
}

export interface ChangesQuery {
  /** Only changes after this number. */
  since?: number;
  /** Maximum number of changes. */
  limit?: number;
}

export interface LoadOptions extends RequestOptions {
  /** The SDK that the dashboard implements, such as `2.1.0`. */
  sdk: string;
  /** The version that the user has installed, if any: `version.version` of the last load. */
  installed?: string;
  /** Only versions in this range, such as `^1.0.0`. */
  range?: string;
  /** Only versions published at least this many days ago. */
  minAgeDays?: number;
  /** The version of the saved settings; default: the `configVersion` of `installed`. */
  configVersion?: number | null;
  /** An `update` that was reported, and to which the user has consented: take exactly this one. */
  accept?: { version: string; reasons: UpdateReason[] };
  /**
   * Update inside the range even if that needs more permissions.
   * @deprecated Use `accept`.
   */
  acceptPermissions?: boolean;
  /** Whether a load without `installed` counts as an install; default true. */
  isCounted?: boolean;
}

/**
 * `permissions`: it needs more. `major`: it is outside `^installed`. `config`: its settings have
 * another version than the saved ones.
 */
export type UpdateReason = "permissions" | "major" | "config";

/** A version that is not taken without consent; pass it as `accept`. */
export interface Update extends VersionEntry {
  reasons: UpdateReason[];
}

export interface FetchedWidget {
  id: string;
  /** The version that was loaded. Store its number, and pass it as `installed` next time. */
  version: VersionEntry;
  /** The verified bytes of the bundle. */
  bundle: ArrayBuffer;
  /** The text of the version's style sheet, if it has one. */
  css: string | null;
  /** URLs of the files. */
  files: PublishedFile[];
  /** The SDK it was selected for. */
  sdk: string;
  /** The status of the installed version. */
  status: ResolveResult["status"];
  /** The same as a human-readable message. */
  message: string;
  /** The offer, if it was not loaded because it needs consent. */
  update: Update | null;
  /** Permissions that `update`, or else the loaded version, needs and the installed one does not. */
  permissionsAdded: string[];
  permissionsRemoved: string[];
  /** The version of the saved settings, and that of the loaded version, if it is another. */
  configVersionChange: ConfigVersionChange | null;
  /** Whether the catalog was unreachable, so that this was loaded from the cache. */
  isOffline: boolean;
}

export interface LoadedWidget<Module> extends FetchedWidget {
  /** The exports of the bundle. */
  module: Module;
  /** With `configVersionChange`: the module's own function, if it has one. */
  migrate: import("./widget.js").Migrate | null;
  /** The style sheet, ready for `adoptedStyleSheets`; null outside browsers. */
  styleSheet: Platform<"CSSStyleSheet", never> | null;
}

export interface WatchOptions extends RequestOptions {
  /** Number of the last known change; without it, only new changes. */
  since?: number;
  /** The longest pause between two attempts to connect or to poll; default 30. */
  pollSeconds?: number;
}

/** The base of all errors of the client. */
export class CatalogError extends Error {
  /** The status of the response, if there was one. */
  readonly status?: number;
}

/** The request is invalid; the message says why. Retrying does not help. */
export class InvalidRequest extends CatalogError {}

/** There is no such widget or version, or it is not listed. */
export class NotFound extends CatalogError {}

/** No version of the widget is compatible. */
export class Incompatible extends CatalogError {
  readonly id: string;
  readonly sdk: string;
  /** A compatible version that needs consent: `update` says why. */
  readonly offer: VersionEntry | null;
  readonly update: Update | null;
  readonly permissionsAdded: string[];
}

/** The operator of the catalog has revoked the version: it must not run. */
export class Revoked extends CatalogError {
  readonly id?: string;
  /** Another version to use instead, if one is compatible. */
  readonly offer?: VersionEntry | null;
  /** The same, with the reasons why it needs consent. */
  readonly update?: Update | null;
}

/** A file does not match its hash. */
export class IntegrityError extends CatalogError {
  readonly url: string;
  /** SHA-256 in hexadecimal. */
  readonly expected: string;
  readonly actual: string;
}

/** The module could not be imported; `cause` is the reason. */
export class ImportFailed extends CatalogError {}

/** These changes are no longer available. */
export class FeedExpired extends CatalogError {}

/** The catalog is temporarily unavailable, or sends what no catalog sends. */
export class Unavailable extends CatalogError {
  readonly retryAfterSeconds?: number | null;
}

/** The catalog, or the host of a bundle, is unreachable. */
export class Offline extends Unavailable {}

export {}; // Only what is marked is exported.
