// A dashboard for the tests of the sandbox: what a page says and gets is kept for the test.

export function start({ Catalog, mount, base }) {
  const catalog = new Catalog(base);
  const all = new Map();
  const place = document.querySelector("#place");
  let unseen = [];
  addEventListener("unhandledrejection", (event) => unseen.push(String(event.reason)));
  addEventListener("error", (event) => unseen.push(event.message));

  /** Mounts into an element of its own, and returns the outcome, however it ends. */
  async function run(name, options, element = place.appendChild(document.createElement("div"))) {
    const run = { states: [], configs: [], updates: [], element };
    all.set(name, run);
    element.id = name;
    const told = {
      onState: (...state) => run.states.push(state),
      onConfig: (...config) => run.configs.push(config),
      onUpdate: (update) => run.updates.push(update),
    };
    try {
      run.widget = await mount(element, { catalog, ...told, ...options });
      return "running";
    } catch (error) {
      run.error = error;
      return `${error.name}${error.reason ? ` ${error.reason}` : ""}: ${error.message}`;
    }
  }

  const bundle = (module) => ({ files: { bundle: module } });
  const of = (name) => {
    const { states, configs, updates } = all.get(name);
    return { states, configs, updates };
  };
  const takeUnseen = () => {
    const taken = unseen;
    unseen = [];
    return taken;
  };
  Object.assign(window, { run, bundle, all, of, takeUnseen, mount, catalog, fullHost, oddHost });
}

/** Everything that a widget may have, declared, granted and answered. */
function fullHost(code) {
  const asked = [];
  const later = {};
  const subscribe = (topic, listener) => {
    later[topic] = listener;
    return () => asked.push(`stop ${topic}`);
  };
  const light = (entity) => ({ entity, state: "on", secret: 1 });
  const host = {
    data: { weather: { temperature: 14 } },
    watch: subscribe,
    now: () => new Date(0),
    fetchJson(url) {
      asked.push(url);
      return { from: "page" };
    },
    async fetchImage() {
      return new Blob(["<svg xmlns='http://www.w3.org/2000/svg'/>"], { type: "image/svg+xml" });
    },
    storage: {
      all: () => ({ text: "kept" }),
      set: (...change) => asked.push(["set", ...change]),
    },
    locate: () => ({ latitude: 1, longitude: 2, place: "Here" }),
    states: () => ["light.desk", "light.desk_2", "light.bed"].map(light),
    watchStates: subscribe,
    call(...call) {
      asked.push(call);
      return "done";
    },
  };
  Object.assign(window, { asked, later });
  const permissions = ["storage", "network:api.example", "geolocation", "control:light"];
  return {
    files: { bundle: code, css: "#place { color: rgb(1, 2, 3) }", manifest: { permissions } },
    grants: [
      ...["storage", "network", "geolocation"],
      { domain: "light", access: "control", entities: ["light.desk*"] },
    ],
    ...{ host, locale: "de", sdk: "2.2.0", scheme: "dark", config: { face: "round" } },
  };
}

/** Functions that throw, hang or answer what cannot be copied. */
function oddHost(code) {
  const permissions = ["network", "geolocation", "read:light"];
  const fail = (message) => () => {
    throw new Error(message);
  };
  return {
    files: { bundle: code, manifest: { permissions } },
    grants: permissions,
    onState(...state) {
      all.get("odd").states.push(state);
      throw new Error("Odd.");
    },
    host: {
      data: { clock: 1 },
      watch: async () => fail("No clock.")(),
      now: fail("No time."),
      fetchJson: () => () => {},
      fetchImage: fail("No image."),
      locate: () => Promise.reject("nowhere"),
      states: () => 7,
      watchStates: async () => fail("No lights.")(),
    },
  };
}
