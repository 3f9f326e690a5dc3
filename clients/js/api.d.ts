// The shapes of the public API. Generated from its OpenAPI document; do not edit.
// ./dev run python -m widget_catalog.web.openapi.typescript > clients/js/api.d.ts

/** What to search for; `Catalog.search` takes it. */
export interface SearchQuery {
  /**
   * Text to look for. It is split at white space, and every term must occur in `displayName` or
   * `description`: anywhere in a word, upper or lower case alike. `scope` and `name` are not
   * searched. `%`, `*`, quotes and the like are ordinary characters. Over 256 characters is
   * `400`; an empty text is the same as none.
   */
  q?: string;
  /**
   * Version of your dashboard's SDK: a full semantic version, no range, no `v`. It filters
   * nothing: each result gets `latestCompatibleVersion`, which is `null` where no version fits.
   * Prereleases count: `1.0.0-rc.1` is admitted by `^1.0.0`. Anything that is not a version,
   * the empty text too, is `400`.
   */
  compatSdk?: string;
  /**
   * Only widgets of this scope, written exactly. A scope that does not exist, or could not, has
   * no widgets; that is no error.
   */
  scope?: string;
  /**
   * `true`: only official widgets. `false`: only the others, those with `isOfficial: null`
   * among them. Upper or lower case alike; anything else is `400`.
   */
  official?: boolean;
  /**
   * Which page, a whole number from 1. A page past the end is empty; anything that is not such
   * a number is `400`.
   */
  page?: number;
  /**
   * How many results a page has, a whole number from 1. More than 100 is taken as 100, and the
   * answer's `limit` says so; it is not an error. Anything that is not such a number is `400`.
   */
  limit?: number;
}

/** One page of search results. */
export interface SearchResults {
  /** The results on this page, best first. */
  widgets: WidgetSummary[];
  /** How many widgets match in all, on every page together. */
  total: number;
  /** The number of this page, as requested. */
  page: number;
  /** The page size that was used: what was asked for, but never more than 100. */
  limit: number;
}

/** A widget as search shows it. */
export interface WidgetSummary {
  /** Who publishes it. */
  scope: string;
  /** Its name inside the scope. */
  name: string;
  /** Its display name. */
  displayName: string;
  /** Short description. */
  description: string | null;
  /** Iconify identifier. */
  icon: string | null;
  /** Whether the operator of this service maintains it; `null` counts as `false`. */
  isOfficial: boolean | null;
  /** Installs so far, all versions together. */
  downloadCount: number | null;
  /**
   * The newest version that is not yanked; `null` if there is none. *Newest* is the one
   * published last, not the one with the highest number.
   */
  latestVersion: VersionEntry | null;
  /**
   * Only there when the request has `compatSdk`: the newest version, not yanked, whose
   * `sdkVersion` range admits that SDK; `null` if none does.
   */
  latestCompatibleVersion?: VersionEntry | null;
}

/** A widget with all of its versions. */
export interface WidgetDetail {
  widget: Widget;
  /** Every published version, newest first. Yanked ones are among them, marked. */
  versions: VersionEntry[];
  /** Number of the newest version that is not yanked; `null` if there is none. */
  latestVersion: string | null;
}

/** A widget as its detail shows it. */
export interface Widget {
  /** Who publishes it. */
  scope: string;
  /** Its name inside the scope. */
  name: string;
  /** Its display name. */
  displayName: string;
  /** Short description. */
  description: string | null;
  /** Iconify identifier. */
  icon: string | null;
  /** Whether the operator of this service maintains it. */
  isOfficial: boolean;
  /** Installs so far, all versions together. */
  downloadCount: number;
  /** When the widget was created. */
  createdAt: string;
}

/**
 * A published version. It never changes, except that it may be yanked or deprecated (and back
 * again).
 */
export interface VersionEntry {
  /** Same as the widget's. */
  scope: string;
  /** Same as the widget's. */
  name: string;
  /** Version number, by Semantic Versioning 2.0.0. */
  version: string;
  /** Where the JavaScript bundle is. Load this address; do not build your own. */
  bundleUrl: string;
  /** Size of the bundle in bytes, not compressed. */
  bundleSize: number;
  /** SHA-256 of the bundle, in hexadecimal: check what you have loaded against it. */
  sha256Hash: string;
  /** When the version was published. */
  publishedAt: string;
  /**
   * Whether the version was withdrawn. A yanked version is never offered as the latest; its
   * bundle stays where it is, so that running dashboards do not break.
   */
  yanked: boolean;
  /** Why it was yanked, for people. */
  yankedReason: string | null;
  /** A warning to show to those who use this version. */
  deprecationMessage: string | null;
  /** What is new, for users. Often Markdown. */
  releaseNotes: string | null;
  /** Display name, as of this version. */
  displayName: string;
  /** Short description, as of this version. */
  description: string | null;
  /** Iconify identifier, as of this version. */
  icon: string | null;
  /** Smallest size on the dashboard's grid. */
  minSize: Size;
  /** Largest size on the dashboard's grid. */
  maxSize: Size;
  /** Range of SDK versions the bundle works with, in npm's grammar. */
  sdkVersion: string;
  /** Version of the widget's settings, for migrations. */
  configVersion: number | null;
  /** What the widget asks to be allowed to do. */
  permissions: string[];
  /** License identifier, usually an SPDX one. */
  license: string | null;
}

/** A size on the dashboard's grid, in cells. */
export interface Size {
  /** Width. */
  w: number;
  /** Height. */
  h: number;
}

/** Everything about one version. */
export interface VersionDetail {
  widget: Widget;
  version: VersionEntry;
  /**
   * The manifest as it was published, with keys that this catalog does not know. `null` for
   * versions that were imported without one.
   */
  manifest: Record<string, unknown> | null;
  /** The bundle, and the style sheet if there is one. */
  files: PublishedFile[];
  /** What it asks for and `previousVersion` did not. */
  permissionsAdded: string[];
  /** What `previousVersion` asked for and this does not. */
  permissionsRemoved: string[];
  /** The version published before it that is not yanked, if any. */
  previousVersion: string | null;
  /** Set if the bundle must not run; `null` otherwise. */
  revoked: RevokedState | null;
}

/** A file of a version. */
export interface PublishedFile {
  /** Its name. */
  path: string;
  /** Where it is. */
  url: string;
  /** Its size in bytes, not compressed. */
  size: number;
  /** Its SHA-256, in hexadecimal. */
  sha256Hash: string;
  /** The same for an `integrity` attribute. */
  integrity: string;
  /** Its media type. */
  contentType: string;
}

/** Why and when a version was revoked: its bundle must not run. */
export interface RevokedState {
  /** Why, for people. */
  reason: string;
  /** When. */
  at: string;
}

/** What to do about every requested widget. */
export interface Resolved {
  /** The requested SDK. */
  sdk: string;
  /** Number of the newest change that this answer knows of: see `changes`. */
  revision: number;
  /** In the order of the request. */
  results: ResolveResult[];
}

/** What to do about one widget. */
export interface ResolveResult {
  /** The requested widget. */
  id: string;
  /**
   * `current`: what is installed is what would be offered. `update`: there is another, newer
   * one to go to. `install`: nothing is installed, and there is an offer. `incompatible`:
   * neither what is installed nor anything newer fits the SDK and the range; if an older
   * version does, it is the offer. `yanked`: what is installed was taken back. `revoked`: what
   * is installed must not run; unload it. `unlisted`: the widget is no longer listed.
   * `unknown`: there is no such widget.
   */
  status: "current" | "update" | "install" | "incompatible" | "yanked" | "revoked" | "unlisted" | "unknown";
  /** What is installed, if the catalog knows it. */
  installed: VersionEntry | null;
  /**
   * The newest version that fits: compatible, neither yanked nor revoked, in the range, old
   * enough.
   */
  offer: VersionEntry | null;
  /** Number of the newest version that is not yanked, whether it fits or not. */
  latestVersion: string | null;
  /** What the offer asks for and the installed version does not. */
  permissionsAdded: string[];
  /** What the installed version asks for and the offer does not. */
  permissionsRemoved: string[];
  /** A message to show to users. */
  message: string;
}

/** A page of the feed, oldest first. */
export interface Changes {
  /** What happened after `since`. */
  changes: Change[];
  /** Ask with this as `since` for what comes after. */
  next: number;
  /** Number of the newest change: where `next` is less, there is more. */
  newest: number;
}

/** Something that happened to a widget. Of one that is not listed, only its id is given. */
export interface Change {
  /** Its number. There are no gaps. */
  seq: number;
  /** When it happened. */
  at: string;
  /**
   * `published`: a version, or several by an import. `unyanked`: also if a revocation was taken
   * back. `text`: the name, description or icon of the widget is another one.
   */
  type: "published" | "yanked" | "unyanked" | "deprecated" | "undeprecated" | "listed" | "unlisted" | "official" | "unofficial" | "revoked" | "text";
  /** The widget, as `scope/name`. */
  id: string;
  /** The version that it happened to; `null`: to the widget, or to several. */
  version: string | null;
  /** Whether the widget is listed now. */
  listed: boolean;
}

/** All bundles that must not run, of listed and unlisted widgets. */
export interface Revocations {
  /** Number of the newest change that this answer knows of: see `changes`. */
  revision: number;
  /** The newest first. */
  revocations: Revocation[];
}

/** A bundle that must not run. */
export interface Revocation {
  /** SHA-256 of the bundle, in hexadecimal. Do not run what has it, wherever it is from. */
  sha256Hash: string;
  /** The widget, as `scope/name`. */
  id: string;
  /** The version that was revoked. */
  version: string;
  /** Why, for people. */
  reason: string;
  /** When it was revoked. */
  at: string;
}

/** The download was counted. */
export interface Counted {
  /** Always `true`. */
  success: true;
}

/** What a dashboard runs, and what it has. Other keys are ignored. */
export interface ResolveRequest {
  /** Version of the SDK: the one that runs, or one to upgrade to. */
  sdk: string;
  /** At most 500. */
  widgets: InstalledWidget[];
  /** Offer no version that was published within so many days. What is installed stays. */
  minAgeDays?: number | null;
}

/** A widget that a dashboard has, or wants. */
export interface InstalledWidget {
  /** The widget, as `scope/name`. */
  id: string;
  /** The version that is installed, if any. */
  installed?: string | null;
  /** Only versions in this range, in npm's grammar. */
  range?: string | null;
}
