// The script of frame.html: runs one widget for the page that embeds the frame. It has an opaque
// origin, no network and no storage. The page sends the bytes, and answers what the widget asks.

"use strict";
{
  // A policy cannot disable WebRTC. It cannot be taken from another window either: frames inside
  // this one have opaque origins, so nothing in them is accessible, and may not run scripts.
  for (const name of Object.getOwnPropertyNames(window)) {
    if (/^(webkit)?RTC/.test(name)) delete window[name];
  }

  // A policy blocks what a frame loads, but browsers may connect to its host first, and a host
  // name can carry data. So can the host of a hint, to which browsers without Connection-Allowlist
  // connect. So a widget that makes a frame or adds a hint is ended. It shares this realm: whatever
  // is used here is captured or frozen before it runs.
  const FRAMES = "iframe, frame, object, embed, fencedframe, portal";
  const HINTS = ["preconnect", "dns-prefetch", "prefetch", "preload", "modulepreload", "prerender"]
    .map((rel) => `link[rel~=${rel} i]`).join();
  const { apply } = Reflect;
  const { matches, querySelector, attachShadow } = Element.prototype;
  function has(node, selector) {
    try {
      return apply(matches, node, [selector]) || apply(querySelector, node, [selector]) !== null;
    } catch {
      return false; // Not an element.
    }
  }
  function endFor(nodes) {
    for (let at = 0; at < nodes.length; at++) {
      if (has(nodes[at], FRAMES)) return end("frames"), true;
      if (has(nodes[at], HINTS)) return end("hints"), true;
    }
    return false;
  }
  function endIfConnecting(records) {
    for (let at = 0; at < records.length; at++) {
      const { addedNodes, removedNodes, attributeName, oldValue, target } = records[at];
      // Also those that were removed at once, and hints that are no longer any.
      if (endFor(addedNodes) || endFor(removedNodes)) return;
      if (attributeName === "rel" && has(target, oldValue ? "link" : HINTS)) return end("hints");
    }
  }
  const WATCHED = Object.freeze({
    childList: true, subtree: true, attributes: true, attributeOldValue: true,
  });
  const observer = new MutationObserver(endIfConnecting);
  const { observe } = observer;
  apply(observe, observer, [document, WATCHED]);
  for (const type of [MutationRecord, NodeList]) Object.freeze(type.prototype);
  // Shadow trees are observed one by one, so none may come from a copy or from markup.
  Element.prototype.attachShadow = function (options) {
    const root = apply(attachShadow, this, [{ ...options, clonable: false }]);
    apply(observe, observer, [root, WATCHED]);
    return root;
  };
  for (const type of [Element.prototype, ShadowRoot.prototype, Document]) {
    for (const name of Object.getOwnPropertyNames(type)) {
      if (name.endsWith("Unsafe")) delete type[name];
    }
  }
  for (const name of ["open", "write", "writeln"]) {
    Document.prototype[name] = () => end("left");
  }
  // The history is that of the page, which Firefox lets a frame go back in.
  for (const name of ["back", "forward", "go"]) History.prototype[name] = () => end("left");

  const place = document.querySelector("#place");
  // The widget must not get the port: a huge object that is sent by it would freeze the page, which
  // has to read it. What is sent are texts of limited length, made by functions captured here.
  const MESSAGE_CHARACTERS = 262_144; // As in sandbox.js.
  const STORED_CHARACTERS = 65_536;
  const { parse, stringify } = JSON;
  const { slice } = String.prototype;
  const [toText, later, soon, clock] = [String, setTimeout, queueMicrotask, Date.now];
  const dataOf = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data").get;

  let tell, module, context, widget;
  let faultsLeft = 20; // A timer that fails repeatedly is reported a few times.
  let offset = 0; // Of the page's clock to the one here.
  let asked = 0;
  const asking = new Map(); // By number: what to do with the page's answer.
  const listeners = new Map(); // By key and topic.

  /** False: it is too long to be sent. */
  function post(type, more) {
    const text = stringify({ ...more, type });
    if (typeof text !== "string" || text.length > MESSAGE_CHARACTERS) return false;
    tell?.(text);
    return true;
  }
  const end = (reason, message) => post("failed", { reason, message });
  function said(fault) {
    try {
      return apply(slice, toText(fault?.message ?? fault), [0, 300]);
    } catch {
      return "";
    }
  }
  const report = (fault) => faultsLeft-- > 0 && post("fault", { message: said(fault) });

  const ask = (key) => (...given) => new Promise((done, fail) => {
    asking.set((asked += 1), { done, fail });
    if (!post("ask", { id: asked, key, given })) fail(new Error("What is passed is too large."));
  });
  const watch = (key) => (topic, listener) => {
    const name = `${key} ${topic}`;
    const some = listeners.get(name) ?? new Set();
    const own = (value) => listener(value); // The same listener may be passed twice.
    if (some.size === 0) post("watch", { key, topic });
    listeners.set(name, some.add(own));
    return () => some.delete(own) && some.size === 0 && post("unwatch", { key, topic });
  };

  /** On a copy of what is stored, which the page keeps. */
  function storageOf(entries) {
    const kept = new Map(entries);
    const changed = new Map();
    const length = (key, text) => (text === undefined ? 0 : key.length + text.length);
    let stored = 0;
    for (const [key, text] of kept) stored += length(key, text);
    function send() {
      const sent = [...changed];
      changed.clear();
      post("store", { entries: sent }) || sent.forEach((one) => post("store", { entries: [one] }));
    }
    return {
      get(key) {
        const text = kept.get(toText(key));
        return text === undefined ? undefined : parse(text);
      },
      set(name, value) {
        const [key, text] = [toText(name), stringify(value)];
        const now = stored - length(key, kept.get(key)) + length(key, text);
        if (now > STORED_CHARACTERS) throw new Error("A widget can store 64 KB, and no more.");
        stored = now;
        text === undefined ? kept.delete(key) : kept.set(key, text);
        if (changed.size === 0) soon(send);
        changed.set(key, text ?? null);
      },
    };
  }

  function contextOf({ keys, sdk, config, locale, data, stored }) {
    const now = () => new Date(clock() + offset);
    const made = { sdkVersion: sdk, config, locale, now };
    for (const key of keys) {
      made[key] = key === "data" ? data
        : key === "storage" ? storageOf(stored)
        : key === "watch" || key === "watchStates" ? watch(key)
        : ask(key);
    }
    return made;
  }

  const load = (bytes) => {
    const url = URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }));
    return import(url).finally(() => URL.revokeObjectURL(url));
  };

  async function run({ bundle, css, scheme, change, ...given }) {
    show(scheme);
    if (css) {
      const text = typeof css === "string" ? css : new TextDecoder().decode(css);
      document.adoptedStyleSheets.push(await new CSSStyleSheet().replace(text));
    }
    context = contextOf(given);
    try {
      module = await load(bundle);
    } catch (fault) {
      return end("load", said(fault));
    }
    if (typeof module.mount !== "function") return end("contract");
    try {
      if (change) {
        if (module.migrate) context.config = await module.migrate(context.config, change.from);
        if (!post("config", { config: context.config })) throw new Error("They are too large.");
      }
    } catch (fault) {
      return end("migrate", said(fault));
    }
    mount();
  }

  function mount() {
    try {
      widget = module.mount(place, context);
      post("mounted");
    } catch (fault) {
      end("mount", said(fault));
    }
  }

  function show(scheme) {
    document.documentElement.style.colorScheme = scheme ?? "";
  }

  const orders = {
    update({ config }) {
      if (!context) return; // It could not be loaded.
      context.config = config;
      if (typeof widget?.update === "function") return widget.update(config);
      widget?.unmount?.(); // A host without update() mounts again, as those before SDK 1.2 did.
      place.replaceChildren();
      mount();
    },
    show: ({ scheme }) => show(scheme),
    answer({ id, value, error }) {
      const { done, fail } = asking.get(id) ?? {};
      asking.delete(id);
      error === undefined ? done?.(value) : fail?.(new Error(error));
    },
    event({ key, topic, value }) {
      if (key === "watch" && context.data) context.data[topic] = value;
      for (const listener of listeners.get(`${key} ${topic}`) ?? []) {
        try {
          listener(value);
        } catch (fault) {
          report(fault);
        }
      }
    },
  };

  // A sandboxed form sends nothing, and its browser does not even report the attempt. Widgets
  // that listen for it get the event, as they would elsewhere.
  function submit(form, submitter = null) {
    if (!form.noValidate && !submitter?.formNoValidate && !form.reportValidity()) return;
    form.dispatchEvent(new SubmitEvent("submit", { submitter, bubbles: true, cancelable: true }));
  }
  HTMLFormElement.prototype.requestSubmit = function (submitter) {
    submit(this, submitter);
  };
  function onPress(event) {
    const button = event.composedPath().find((it) => it instanceof HTMLElement && it.form);
    if (button?.type !== "submit" || button.disabled) return;
    const send = () => event.defaultPrevented || (event.preventDefault(), submit(button.form, button));
    if (event.eventPhase === Event.CAPTURING_PHASE) setTimeout(send); // If it never bubbles up.
    else send();
  }
  addEventListener("click", onPress, { capture: true });
  addEventListener("click", onPress);

  addEventListener("error", (event) => report(event.message));
  addEventListener("unhandledrejection", (event) => report(event.reason));

  function receive(event) {
    if (event.source !== parent || !event.ports[0]) return;
    removeEventListener("message", receive);
    const [port] = event.ports;
    tell = port.postMessage.bind(port);
    offset = event.data.offset;
    const started = run(event.data).catch((fault) => end("load", said(fault)));
    port.onmessage = (event) => {
      const order = apply(dataOf, event, []);
      if (order.type === "ping") {
        offset = order.offset;
        return post("pong");
      }
      // Not during the event: window.event has the port. Answers may be needed for the start.
      later(async () => {
        if (order.type !== "answer") await started;
        orders[order.type](order);
      });
    };
  }

  fetch("data:,").then(() => "Content-Security-Policy", () => origin !== "null" && "sandbox").then((missing) => {
    if (!missing) addEventListener("message", receive);
    if (parent !== self) parent.postMessage({ type: "ready", versions: [1], missing }, "*");
  });
}
