import type { MountedWidget, WidgetContext } from "vite-plugin-widget-catalog/widget";

import { readSettings } from "./settings";
import { WidgetElement } from "./widget-element";

/** Called by the dashboard with an empty element; every key of the context may be missing. */
export function mount(element: HTMLElement, context: WidgetContext = {}): Required<MountedWidget> {
  const widget = new WidgetElement();
  widget.settings = readSettings(context.config);
  element.append(widget);

  return {
    /** Called whenever somebody changes the settings. */
    update(config) {
      widget.settings = readSettings(config);
    },
    unmount: () => widget.remove(),
  };
}
