// The widget contract: what a bundle exports, and what a dashboard gives it.
//
//     /** @type {import("./widget.d.ts").Mount} */
//     export function mount(element, context = {}) { … }

/** A bundle is one ES module that exports `mount`. */
export interface WidgetModule {
  mount: Mount;
  /** Since SDK 2.2. */
  migrate?: Migrate;
}

/** Settings of an older `configVersion`, as settings of this version's own. */
export type Migrate = (
  config: WidgetConfig,
  fromConfigVersion: number | null,
) => WidgetConfig | Promise<WidgetConfig>;

/**
 * Draw into the element. It is empty, has a definite size, and is the widget's alone.
 * Every key of the context may be missing; a widget must mount without it.
 */
export type Mount = (element: WidgetElement, context?: WidgetContext) => MountedWidget | void;

/** `HTMLElement`, where TypeScript's `dom` library is used. */
export type WidgetElement = typeof globalThis extends { HTMLElement: { prototype: infer Type } }
  ? Type
  : any;

export interface MountedWidget {
  /** The settings have changed; gets all of them. Dashboards call it since SDK 1.2. */
  update?(config: WidgetConfig): void;
  /** Leave the element empty and nothing running. */
  unmount?(): void;
}

/** This widget's settings, as its `configVersion` describes them. */
export type WidgetConfig = Record<string, unknown>;

export interface WidgetContext {
  /** Since SDK 1.0. */
  config?: WidgetConfig;
  /** A BCP 47 language tag, such as `en-GB`. Since SDK 1.0. */
  locale?: string;
  /** The current time. Since SDK 1.2. */
  now?(): Date;
  /** What the dashboard knows: `weather`, `calendar`, `sensors` and the like. Since SDK 2.0. */
  data?: Record<string, unknown>;
  /** Kept for this widget alone. Needs the permission `storage`. Since SDK 2.0. */
  storage?: WidgetStorage;
  /**
   * Call the listener with `data[topic]` when it changes; returns a function that stops it.
   * Since SDK 2.1.
   */
  watch?(topic: string, listener: (value: unknown) => void): () => void;
  /** JSON, fetched by the dashboard. Needs the permission `network`. Since SDK 2.1. */
  fetchJson?(url: string): Promise<unknown>;
  /** Where the dashboard is. Needs the permission `geolocation`. Since SDK 2.1. */
  locate?(): Promise<WidgetLocation>;
  /** An image, fetched by the dashboard. Needs the permission `network`. Since SDK 2.2. */
  fetchImage?(url: string): Promise<WidgetBlob>;
  /**
   * The things that a pattern such as `light.*` names. Needs a capability to read their domain.
   * Since SDK 2.2.
   */
  states?(pattern: string): Promise<EntityState[]>;
  /**
   * Call the listener with those that have changed; returns a function that stops it. Needs a
   * capability to read their domain. Since SDK 2.2.
   */
  watchStates?(pattern: string, listener: (states: EntityState[]) => void): () => void;
  /**
   * Act on one thing: `call("lock.unlock", { entity: "lock.front_door" })`. Needs a capability to
   * control its domain. Since SDK 2.2.
   */
  call?(service: string, call: ServiceCall): Promise<unknown>;
}

/** `Blob`, where TypeScript's `dom` library is used. */
export type WidgetBlob = typeof globalThis extends { Blob: { prototype: infer Type } } ? Type : any;

/** A thing of a home, and how it is. */
export interface EntityState {
  /** Its domain and name, such as `lock.front_door`. */
  entity: string;
  /** In a word, such as `on` or `locked`. */
  state: unknown;
  attributes?: Record<string, unknown>;
}

export interface ServiceCall {
  entity: string;
  data?: Record<string, unknown>;
}

export interface WidgetStorage {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

export interface WidgetLocation {
  latitude: number;
  longitude: number;
  place: string;
}
