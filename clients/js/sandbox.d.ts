// Runs widgets in sandboxed frames of a page.

import type { Catalog, CatalogError, LoadOptions, Update, VersionEntry } from "./client.js";
import type { EntityState, ServiceCall, WidgetConfig, WidgetLocation } from "./widget.js";

/**
 * Run a widget in a sandboxed frame that fills the element.
 *
 * It gets what is granted here **and** declared by its version, and nothing else of this page. The
 * promise is fulfilled when the widget runs, and rejected with the errors of the client or with a
 * `SandboxError`; `onState` says the same in a sentence for a person. Whatever happens later is told
 * to `onState` alone.
 */
export function mount(element: SandboxElement, options: MountOptions): Promise<MountedSandbox>;

/** `HTMLElement`, where TypeScript's `dom` library is used. */
export type SandboxElement = typeof globalThis extends { HTMLElement: { prototype: infer Type } }
  ? Type
  : any;

export type MountOptions = CommonOptions & (FromCatalog | Exactly | FromFiles);

/** The version that `resolve` selects, as for `load()`. */
export interface FromCatalog extends LoadOptions {
  catalog: Catalog;
  id: string;
  version?: undefined;
  files?: undefined;
}

/** Exactly this version: nothing is resolved or counted. */
export interface Exactly {
  catalog: Catalog;
  id: string;
  version: string;
  files?: undefined;
}

/** Bytes that the page has: nothing is fetched. */
export interface FromFiles {
  catalog?: Catalog;
  id?: string;
  files: {
    bundle: ArrayBuffer | string;
    css?: string | null;
    /** Declares `permissions`, `capabilities` and `configVersion`. */
    manifest?: Record<string, unknown>;
  };
}

export interface CommonOptions {
  /** The SDK that the dashboard implements. */
  sdk?: string;
  /** Separates what several copies of a widget store; default `""`. */
  instance?: string;
  /** The saved settings, of `configVersion`. */
  config?: WidgetConfig;
  configVersion?: number | null;
  /** A BCP 47 language tag; default: that of the browser. */
  locale?: string;
  /** Default: that of the person's device. */
  scheme?: Scheme;
  /** What the user has granted; default: nothing. */
  grants?: Grant[];
  /** What the page offers. */
  host?: Host;
  onState?(state: SandboxState, sentence: string): void;
  /** The widget has taken over settings of another version: save both. */
  onConfig?(config: WidgetConfig, configVersion: number): void;
  /**
   * There is a newer version that needs consent: mount again in this element, with it as `accept`.
   * It is called before the state `running`, or after `failed` if only the newer version may run.
   */
  onUpdate?(update: Update): void;
  /** Another frame document than the catalog's. */
  frame?: string | { href: string };
  /** The title of the frame, for screen readers; default: the name of the widget. */
  title?: string;
  /** Receives an English sentence, and returns it in another language. */
  translate?(sentence: string): string;
  /** Ends the widget. */
  signal?: LoadOptions["signal"];
}

export type Scheme = "light" | "dark";

export type SandboxState = "loading" | "running" | "failed" | "stopped";

/** A permission by its name, such as `storage` or `network:api.example`, or a capability. */
export type Grant = string | GrantedCapability;

export interface GrantedCapability {
  domain: string;
  access: "read" | "control";
  /** Names with `*`; without them, all of the domain. */
  entities?: string[] | null;
  /** Without them, all of the domain. */
  services?: string[] | null;
}

/**
 * What a page answers. It is asked only for what is granted and declared, except for `data` and
 * `watch`. What is missing here does not exist for the widget; but `fetchJson`, `fetchImage`,
 * `storage` and `now` have defaults.
 */
export interface Host {
  /** What the widget may know, by topic: only what was chosen for it. */
  data?: Record<string, unknown>;
  /** Calls the listener with `data[topic]` when it changes; returns a function that stops it. */
  watch?(topic: string, listener: (value: unknown) => void): (() => void) | void;
  now?(): Date;
  fetchJson?(url: string): Promise<unknown>;
  /** A Blob of an image. */
  fetchImage?(url: string): Promise<unknown>;
  storage?: HostStorage;
  locate?(): WidgetLocation | Promise<WidgetLocation>;
  states?(pattern: string): EntityState[] | Promise<EntityState[]>;
  /** Calls the listener with the states that have changed. */
  watchStates?(pattern: string, listener: (states: EntityState[]) => void): (() => void) | void;
  call?(service: string, call: ServiceCall): unknown;
}

export interface HostStorage {
  /** All that this widget has stored, by key: JSON. */
  all(): Record<string, unknown> | Promise<Record<string, unknown>>;
  /** `undefined`: it was removed. */
  set(key: string, value: unknown): void | Promise<void>;
}

export interface MountedSandbox {
  /** The version that runs: store its number, and pass it as `installed` next time. Null for files. */
  readonly version: VersionEntry | null;
  /** New settings. */
  update(config: WidgetConfig): void;
  show(scheme: Scheme): void;
  unmount(): void;
}

/** A widget did not start, or was ended before it ran. */
export class SandboxError extends CatalogError {
  /** Why, in a word, such as `frame`, `contract`, `silent`. */
  readonly reason: string;
}
