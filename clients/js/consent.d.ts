import type { Capability } from "./api.js";
import type { WidgetElement } from "./widget.js";

/**
 * Asks a person what a widget may do, in the sentences of the catalog's pages, and takes the form away
 * again. The promise is fulfilled with `grants` for `mount`: what was left ticked, or nothing. If
 * there is nothing to ask for, nothing is shown.
 *
 * Pass `permissions` and `capabilities` of the version in full, also before an update: the grants
 * replace the former ones.
 *
 * The page styles it with the variables `--widget-accent`, `-on-accent`, `-edge`, `-radius` and
 * `-gap`, or with rules for `.widget-consent`.
 */
export function consent(element: WidgetElement, options: ConsentOptions): Promise<(string | Capability)[]>;

export interface ConsentOptions extends SentenceOptions {
  /** Their names; without them, `capabilities` alone. */
  permissions?: string[];
  capabilities?: Capability[];
}

export interface SentenceOptions {
  /** `en`, `de` or `ja`; default: the language of the page, or of the browser. */
  locale?: string;
  /** Receives an English sentence and its values, and returns it in another language. */
  translate?(sentence: string, values?: Record<string, string>): string;
}

/** A permission in words, such as `Control locks (lock.front_*)`. */
export function sentenceOf(permission: string | Capability, options?: SentenceOptions): string;
