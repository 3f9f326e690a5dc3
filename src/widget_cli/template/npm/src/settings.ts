import type { WidgetConfig } from "vite-plugin-widget-catalog/widget";

/** The settings that `configSchema` in widget.json declares. */
export interface Settings {
  greeting: string;
}

/** Dashboards may pass anything, such as settings of an older version. */
export function readSettings({ greeting }: WidgetConfig = {}): Settings {
  return { greeting: typeof greeting === "string" && greeting !== "" ? greeting : "Hello" };
}
