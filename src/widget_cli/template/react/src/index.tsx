import { createRoot } from "react-dom/client";
import type { MountedWidget, WidgetConfig, WidgetContext } from "vite-plugin-widget-catalog/widget";

import { readSettings } from "./settings";
import { openShadow } from "./shadow";
import { Widget } from "./Widget";
import css from "./widget.css?inline";

/** Called by the dashboard with an empty element; every key of the context may be missing. */
export function mount(element: HTMLElement, context: WidgetContext = {}): Required<MountedWidget> {
  const { host, root } = openShadow(element, css);
  const tree = createRoot(root);

  /** Called again whenever somebody changes the settings. */
  function update(config?: WidgetConfig): void {
    tree.render(<Widget {...readSettings(config)} />);
  }
  update(context.config);

  return {
    update,
    unmount() {
      tree.unmount();
      host.remove();
    },
  };
}
