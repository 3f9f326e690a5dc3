import { mount as mountComponent, unmount as unmountComponent } from "svelte";
import type { MountedWidget, WidgetContext } from "vite-plugin-widget-catalog/widget";

import { reactive } from "./reactive.svelte";
import { readSettings } from "./settings";
import { openShadow } from "./shadow";
import css from "./widget.css?inline";
import Widget from "./Widget.svelte";

/** Called by the dashboard with an empty element; every key of the context may be missing. */
export function mount(element: HTMLElement, context: WidgetContext = {}): Required<MountedWidget> {
  const { host, root } = openShadow(element, css);
  const props = reactive(readSettings(context.config));
  const component = mountComponent(Widget, { target: root, props });

  return {
    /** Called whenever somebody changes the settings. */
    update(config) {
      Object.assign(props, readSettings(config));
    },
    unmount() {
      void unmountComponent(component);
      host.remove();
    },
  };
}
