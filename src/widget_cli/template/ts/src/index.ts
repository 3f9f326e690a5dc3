import type { MountedWidget, WidgetConfig, WidgetContext } from "vite-plugin-widget-catalog/widget";

import { displayName } from "../widget.json";
import { readSettings } from "./settings";
import { openShadow } from "./shadow";
import css from "./widget.css?inline";

/** Called by the dashboard with an empty element; every key of the context may be missing. */
export function mount(element: HTMLElement, context: WidgetContext = {}): Required<MountedWidget> {
  const { host, root } = openShadow(element, css);
  const widget = document.createElement("div");
  widget.className = "widget";
  widget.setAttribute("role", "group");
  widget.setAttribute("aria-label", displayName);
  const greeting = document.createElement("strong");
  const name = document.createElement("p");
  name.textContent = displayName;
  widget.append(greeting, name);
  root.append(widget);

  /** Called again whenever somebody changes the settings. */
  function update(config?: WidgetConfig): void {
    greeting.textContent = readSettings(config).greeting;
  }
  update(context.config);

  return { update, unmount: () => host.remove() };
}
