import type { WidgetConfig, WidgetElement } from "./widget.js";

/**
 * A form for a widget's settings, from the `configSchema` of its manifest; without one, a field for
 * JSON. `onChange` is called with all settings after each change, if what was entered is valid.
 *
 * The page styles it with the variables `--widget-accent`, `-surface`, `-edge`, `-quiet`, `-bad`,
 * `-radius`, `-gap` and `-code`, or with rules for `.widget-settings`.
 */
export function settingsForm(element: WidgetElement, options?: SettingsFormOptions): SettingsForm;

export interface SettingsFormOptions {
  /** `configSchema` of the manifest: JSON Schema. */
  schema?: unknown;
  /** The saved settings; what is missing has the schema's `default`. */
  config?: WidgetConfig;
  onChange?(config: WidgetConfig): void;
  /** `en`, `de` or `ja`; default: the language of the page, or of the browser. */
  locale?: string;
  /** Receives an English sentence, and returns it in another language. */
  translate?(sentence: string): string;
}

export interface SettingsForm {
  readonly config: WidgetConfig;
  /** Shows other settings, such as one of `presets`. `onChange` is not called. */
  fill(config: WidgetConfig): void;
  remove(): void;
}

/** The settings before anybody has changed them: `defaultConfig`, and each `default` of the schema. */
export function defaultConfig(manifest?: Record<string, unknown>): WidgetConfig;

/** The author's examples: the schema's `examples`, each a complete set of settings. */
export function presets(schema?: unknown): WidgetConfig[];
