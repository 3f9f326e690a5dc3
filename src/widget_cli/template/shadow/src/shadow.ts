/** Adds an element with a shadow root, so that no style leaks in or out. */
export function openShadow(element: HTMLElement, css: string): { host: HTMLElement; root: ShadowRoot } {
  const host = element.appendChild(document.createElement("div"));
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [sheet];
  return { host, root };
}
