// Types of the public API. Generated from its OpenAPI document; do not edit.
// ./dev run python clients/js/api_types.py > clients/js/api.d.ts

/** What to search for; `Catalog.search` takes it. */
export interface SearchQuery {
  /**
   * Search terms, separated by white space. Every term must occur in `displayName` or
   * `description`, as a case-insensitive substring. `scope` and `name` are not searched. There
   * are no wildcards: `%`, `*` and quotes are ordinary characters. More than 256 characters:
   * `400`. An empty value is ignored.
   */
  q?: string;
  /**
   * Version of your dashboard's SDK: a full semantic version, without `v`, not a range. Results
   * are not filtered: each one has a `latestCompatibleVersion`, which is `null` if no version
   * is compatible. Prereleases are included: `1.0.0-rc.1` satisfies `^1.0.0`. An empty or
   * invalid value: `400`.
   */
  compatSdk?: string;
  /**
   * Only widgets of this scope (exact match). An unknown or invalid scope returns no results,
   * not an error.
   */
  scope?: string;
  /**
   * `true`: only official widgets. `false`: only others, including those with `isOfficial:
   * null`. Case-insensitive. Any other value: `400`.
   */
  official?: boolean;
  /**
   * Page number, starting with 1. A page after the last one is empty. Any other value: `400`.
   */
  page?: number;
  /**
   * Results per page. Values above 100 are treated as 100, which the `limit` in the response
   * shows. Values that are not whole numbers of at least 1: `400`.
   */
  limit?: number;
}

/** One page of search results. */
export interface SearchResults {
  /** The results on this page, best match first. */
  widgets: WidgetSummary[];
  /** Total number of matches on all pages. */
  total: number;
  /** The requested page. */
  page: number;
  /** The page size used: the requested one, but at most 100. */
  limit: number;
}

/** A widget in search results. */
export interface WidgetSummary {
  /** Publishing scope. */
  scope: string;
  /** Name, unique within the scope. */
  name: string;
  /** Human-readable name. */
  displayName: string;
  /** Short description. */
  description: string | null;
  /** Iconify identifier. */
  icon: string | null;
  /** Whether the operator of this service maintains it; `null` means `false`. */
  isOfficial: boolean | null;
  /** Total installs of all versions. */
  downloadCount: number | null;
  /**
   * The newest version that is not yanked; `null` if there is none. *Newest* means published
   * last, not the highest number.
   */
  latestVersion: VersionEntry | null;
  /**
   * Only present if the request has `compatSdk`: the newest version that is not yanked and
   * whose `sdkVersion` range includes that SDK; `null` if there is none.
   */
  latestCompatibleVersion?: VersionEntry | null;
}

/** A widget with all its versions. */
export interface WidgetDetail {
  widget: Widget;
  /** All published versions, newest first, including yanked versions. */
  versions: VersionEntry[];
  /** The newest version that is not yanked; `null` if there is none. */
  latestVersion: string | null;
}

/** A widget in its detail. */
export interface Widget {
  /** Publishing scope. */
  scope: string;
  /** Name, unique within the scope. */
  name: string;
  /** Human-readable name. */
  displayName: string;
  /** Short description. */
  description: string | null;
  /** Iconify identifier. */
  icon: string | null;
  /** Whether the operator of this service maintains it. */
  isOfficial: boolean;
  /** Total installs of all versions. */
  downloadCount: number;
  /** Time of creation. */
  createdAt: string;
}

/**
 * A published version. It is immutable, except that it may be yanked or deprecated, which can
 * be undone.
 */
export interface VersionEntry {
  /** Same as the widget's. */
  scope: string;
  /** Same as the widget's. */
  name: string;
  /** Version number (Semantic Versioning 2.0.0). */
  version: string;
  /** URL of the JavaScript bundle. Use this URL; do not construct it yourself. */
  bundleUrl: string;
  /** Size of the bundle in bytes, uncompressed. */
  bundleSize: number;
  /** SHA-256 of the bundle, in hexadecimal. Verify the bundle with it. */
  sha256Hash: string;
  /** Time of publication. */
  publishedAt: string;
  /**
   * Whether the version is yanked. A yanked version is never offered as the latest; its bundle
   * remains available, so that running dashboards do not break.
   */
  yanked: boolean;
  /** Human-readable reason, if yanked. */
  yankedReason: string | null;
  /** A warning to show to users of this version. */
  deprecationMessage: string | null;
  /** Release notes for users, often in Markdown. */
  releaseNotes: string | null;
  /** Human-readable name, as of this version. */
  displayName: string;
  /** Short description, as of this version. */
  description: string | null;
  /** Iconify identifier, as of this version. */
  icon: string | null;
  /** Minimum size on the dashboard's grid. */
  minSize: Size;
  /** Maximum size on the dashboard's grid. */
  maxSize: Size;
  /** Range of compatible SDK versions, in npm syntax. */
  sdkVersion: string;
  /** Version of the widget's settings, for migrations. */
  configVersion: number | null;
  /**
   * Permissions that the widget requests: those that it declares, then those of its
   * capabilities, such as `control:lock`.
   */
  permissions: string[];
  /** License identifier, usually from SPDX. */
  license: string | null;
}

/** A size on the dashboard's grid, in cells. */
export interface Size {
  /** Width. */
  w: number;
  /** Height. */
  h: number;
}

/** A version in full. */
export interface VersionDetail {
  widget: Widget;
  version: VersionEntry;
  /**
   * The manifest as published, including unknown keys. `null` for versions that were imported
   * without one.
   */
  manifest: Record<string, unknown> | null;
  /** The bundle, then what there is of style sheet, README and pictures. */
  files: PublishedFile[];
  /**
   * Permissions that `previousVersion` did not request. A capability that is narrowed less than
   * before counts as added.
   */
  permissionsAdded: string[];
  /** Permissions that only `previousVersion` requested. */
  permissionsRemoved: string[];
  /** The previous version that is not yanked, if any. */
  previousVersion: string | null;
  /** Set if the version is revoked; `null` otherwise. */
  revoked: RevokedState | null;
  /**
   * The capabilities of the manifest, in full. Each is also among the permissions, as
   * `control:lock`.
   */
  capabilities: Capability[];
  /** Keywords of the manifest: lowercase letters, digits and hyphens. */
  keywords: string[];
  /** Documentation in the manifest, in Markdown. A file README.md takes precedence. */
  readme: string | null;
  /** Website of the widget. */
  homepage: string | null;
  /** Where its source code is. */
  repository: string | null;
  /** Who made it: a name, or a name and a page. */
  author: string | Author | null;
  /** Name and description in other languages, by the tag of the language. */
  translations: Record<string, unknown> | null;
}

/** A file of a version. */
export interface PublishedFile {
  /**
   * `index.js` is the bundle, `index.css` the style sheet. Pictures are
   * `screenshots/{name}.{png,jpg,webp}`, each followed by its thumbnail,
   * `screenshots/{name}.thumb.webp`, at most 640 pixels wide.
   */
  path: string;
  /** URL of the file. */
  url: string;
  /** Size in bytes, uncompressed. */
  size: number;
  /** SHA-256, in hexadecimal. */
  sha256Hash: string;
  /** The hash as the value of an `integrity` attribute. */
  integrity: string;
  /** Media type. */
  contentType: string;
  /** Width of a picture as shown, in pixels. */
  width?: number;
  /** Height of a picture as shown, in pixels. */
  height?: number;
}

/** The revocation of a version: its bundle must not run. */
export interface RevokedState {
  /** Human-readable reason. */
  reason: string;
  /** Time of the revocation. */
  at: string;
}

/** Another version of the widget's settings. `null`: the manifest states none. */
export interface ConfigVersionChange {
  /** Of the installed version. */
  from: number | null;
  /** Of the offer. */
  to: number | null;
}

/** Access to one kind of thing, which the widget requests in its manifest. */
export interface Capability {
  /** The kind of thing. */
  domain: string;
  /** `read`: its state. `control`: also to change it. */
  access: "read" | "control";
  /**
   * Only for these entities. `*` stands for any letters, digits and `_`. If absent: for all
   * entities of the domain.
   */
  entities?: string[];
  /** Only with these services. If absent: with all. */
  services?: string[];
}

/** Who made a widget. */
export interface Author {
  /** Name of the author. */
  name: string;
  /** Page about the author. */
  url?: string;
}

/** The results for all requested widgets. */
export interface Resolved {
  /** The SDK, as requested. */
  sdk: string;
  /** Number of the newest change that this response includes: see `changes`. */
  revision: number;
  /** The results, in the order of the request. */
  results: ResolveResult[];
}

/** A `VersionEntry`, with the style sheet of the version. */
export interface OfferedVersion {
  /** Same as the widget's. */
  scope: string;
  /** Same as the widget's. */
  name: string;
  /** Version number (Semantic Versioning 2.0.0). */
  version: string;
  /** URL of the JavaScript bundle. Use this URL; do not construct it yourself. */
  bundleUrl: string;
  /** Size of the bundle in bytes, uncompressed. */
  bundleSize: number;
  /** SHA-256 of the bundle, in hexadecimal. Verify the bundle with it. */
  sha256Hash: string;
  /** Time of publication. */
  publishedAt: string;
  /**
   * Whether the version is yanked. A yanked version is never offered as the latest; its bundle
   * remains available, so that running dashboards do not break.
   */
  yanked: boolean;
  /** Human-readable reason, if yanked. */
  yankedReason: string | null;
  /** A warning to show to users of this version. */
  deprecationMessage: string | null;
  /** Release notes for users, often in Markdown. */
  releaseNotes: string | null;
  /** Human-readable name, as of this version. */
  displayName: string;
  /** Short description, as of this version. */
  description: string | null;
  /** Iconify identifier, as of this version. */
  icon: string | null;
  /** Minimum size on the dashboard's grid. */
  minSize: Size;
  /** Maximum size on the dashboard's grid. */
  maxSize: Size;
  /** Range of compatible SDK versions, in npm syntax. */
  sdkVersion: string;
  /** Version of the widget's settings, for migrations. */
  configVersion: number | null;
  /**
   * Permissions that the widget requests: those that it declares, then those of its
   * capabilities, such as `control:lock`.
   */
  permissions: string[];
  /** License identifier, usually from SPDX. */
  license: string | null;
  /** URL of the style sheet, if the version has one. */
  cssUrl?: string;
}

/** The result for one widget. */
export interface ResolveResult {
  /** The widget, as requested. */
  id: string;
  /**
   * `current`: the installed version is up to date. `update`: a newer version is offered.
   * `install`: nothing is installed, and a version is offered. `incompatible`: neither the
   * installed version nor a newer one is compatible with the SDK and in the range; if an older
   * version is, it is offered. `yanked`: the installed version was yanked. `revoked`: the
   * installed version must not run; unload it. `unlisted`: the widget is no longer listed.
   * `unknown`: the widget does not exist.
   */
  status: "current" | "update" | "install" | "incompatible" | "yanked" | "revoked" | "unlisted" | "unknown";
  /** The installed version, if the catalog has it. */
  installed: VersionEntry | null;
  /**
   * The newest version that is compatible, neither yanked nor revoked, in the range, and old
   * enough.
   */
  offer: OfferedVersion | null;
  /** The newest version that is not yanked, whether compatible or not. */
  latestVersion: string | null;
  /**
   * Permissions that the offer requests and the installed version does not. A capability that
   * is narrowed less than before counts as added.
   */
  permissionsAdded: string[];
  /** Permissions that the installed version requests and the offer does not. */
  permissionsRemoved: string[];
  /** A human-readable message. */
  message: string;
  /**
   * Set if the offer has another `configVersion` than the installed version, so that its
   * settings may need a migration.
   */
  configVersionChange: ConfigVersionChange | null;
}

/** A page of the feed, oldest first. */
export interface Changes {
  /** The changes after `since`. */
  changes: Change[];
  /** The value of `since` for the next request. */
  next: number;
  /** Number of the newest change. If `next` is less, there are more. */
  newest: number;
}

/** A change of a widget. If the widget is not listed, only its id is given. */
export interface Change {
  /** Sequence number, without gaps. */
  seq: number;
  /** Time of the change. */
  at: string;
  /**
   * `published`: a version, or several by an import. `unyanked`: also if a revocation was
   * undone. `text`: the display name, description or icon of the widget has changed.
   */
  type: "published" | "yanked" | "unyanked" | "deprecated" | "undeprecated" | "listed" | "unlisted" | "official" | "unofficial" | "revoked" | "text";
  /** The widget, as `scope/name`. */
  id: string;
  /** The changed version; `null` if the change affects the widget, or several versions. */
  version: string | null;
  /** Whether the widget is currently listed. */
  listed: boolean;
}

/** All versions that must not run, of listed and unlisted widgets. */
export interface Revocations {
  /** Number of the newest change that this response includes: see `changes`. */
  revision: number;
  /** The revocations, newest first. */
  revocations: Revocation[];
}

/** A version that must not run: compare `id` and `version`. */
export interface Revocation {
  /**
   * SHA-256 of the bundle, in hexadecimal. Other widgets may have the same bundle: they are
   * revoked only if they are listed, too.
   */
  sha256Hash: string;
  /** The widget, as `scope/name`. */
  id: string;
  /** The revoked version. */
  version: string;
  /** Human-readable reason. */
  reason: string;
  /** Time of the revocation. */
  at: string;
}

/** The download was counted. */
export interface Counted {
  /** Always `true`. */
  success: true;
}

/** The SDK and the widgets of a dashboard. Unknown keys are rejected. */
export interface ResolveRequest {
  /** Version of the SDK: the current one, or one to upgrade to. */
  sdk: string;
  /** The widgets, at most 500. */
  widgets: InstalledWidget[];
  /** Do not offer versions newer than this many days. Installed versions are kept. */
  minAgeDays?: number | null;
}

/** A widget that is installed, or to be installed. */
export interface InstalledWidget {
  /** The widget, as `scope/name`. */
  id: string;
  /** The installed version, if any. */
  installed?: string | null;
  /** Only versions in this range, in npm syntax. */
  range?: string | null;
}
