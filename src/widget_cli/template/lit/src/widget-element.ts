import { html, LitElement, unsafeCSS } from "lit";

import { displayName, name } from "../widget.json";
import { readSettings } from "./settings";
import css from "./widget.css?inline";

export class WidgetElement extends LitElement {
  static override styles = unsafeCSS(css);
  static override properties = { settings: { attribute: false } };

  declare settings: ReturnType<typeof readSettings>;

  constructor() {
    super();
    this.settings = readSettings();
  }

  override render() {
    return html`
      <div class="widget" role="group" aria-label=${displayName}>
        <strong>${this.settings.greeting}</strong>
        <p>${displayName}</p>
      </div>
    `;
  }
}

// A page may run several versions of this widget, but every name of an element is taken once.
let tag = `widget-${name}`;
for (let number = 2; customElements.get(tag); number++) tag = `widget-${name}-${number}`;
customElements.define(tag, WidgetElement);
