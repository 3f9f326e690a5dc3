// A dashboard to try widgets in: everything that a host can offer, with sample data and a pretended
// home. No network, no disk: storage is in memory, pictures are drawn, and fetching always fails.

const DAY_MS = 86_400_000;
const LIVE_EVERY_MS = 3_000;

/**
 * The `host` of the client's `mount()`.
 *
 * now: the clock; dates in the data are relative to it.
 * live: whether watched topics and sensors change by themselves.
 * stored: what the widget has stored, by key; onStore receives all of it after each change.
 */
export function sampleHost({ now = () => new Date(), live = true, stored = {}, onStore = () => {} } = {}) {
  const data = sampleData(now());
  const kept = { text: "Bread, tea, stamps\n\nAsk Zoë about the ladder.", ...stored };

  function watch(topic, listener) {
    if (!live) return () => {};
    const timer = setInterval(() => {
      data[topic] = stir(topic, data[topic], now());
      listener(data[topic]);
    }, LIVE_EVERY_MS);
    return () => clearInterval(timer);
  }

  return {
    now,
    data,
    watch,
    storage: {
      all: () => kept,
      set(key, value) {
        if (value === undefined) delete kept[key];
        else kept[key] = value;
        onStore(kept);
      },
    },
    fetchJson: () => Promise.reject(new Error("This sample host has no network.")),
    fetchImage: drawn,
    locate: async () => ({ latitude: 47.37, longitude: 8.54, place: "Zürich" }),
    ...sampleHome(live),
  };
}

/** Things to look at and to operate: `states`, `watchStates` and `call`. */
function sampleHome(live) {
  const home = new Map(Object.entries({
    "light.living_room": ["on", { name: "Living room", brightness: 180 }],
    "light.kitchen": ["off", { name: "Kitchen" }],
    "light.desk": ["off", { name: "Desk" }],
    "switch.coffee_machine": ["off", { name: "Coffee machine" }],
    "lock.front_door": ["locked", { name: "Front door" }],
    "lock.garden_door": ["unlocked", { name: "Garden door" }],
    "sensor.living_room": ["21.4", { name: "Living room", unit: "°C" }],
    "sensor.outside": ["14.2", { name: "Outside", unit: "°C" }],
    "binary_sensor.window": ["off", { name: "Bedroom window" }],
    "media_player.radio": ["playing", { name: "Radio", title: "Evening concert", picture: "https://radio.example/concert" }],
  }));
  const watching = new Set();
  const state = (entity) => ({ entity, state: home.get(entity)[0], attributes: home.get(entity)[1] });
  const matching = (pattern) => {
    const [start, ...rest] = pattern.split("*");
    const end = rest.at(-1);
    return [...home.keys()].filter((it) => (end === undefined ? it === start : it.startsWith(start) && it.endsWith(end)));
  };

  function change(entity, now, attributes) {
    home.set(entity, [now, { ...home.get(entity)[1], ...attributes }]);
    for (const { pattern, listener } of watching) {
      if (matching(pattern).includes(entity)) listener([state(entity)]);
    }
  }

  return {
    states: async (pattern) => matching(pattern).map(state),
    watchStates(pattern, listener) {
      const watcher = { pattern, listener };
      watching.add(watcher);
      const timer = live && setInterval(() => {
        for (const it of matching(pattern).filter((it) => it.startsWith("sensor."))) {
          change(it, (Number(home.get(it)[0]) + (Math.random() - 0.5) / 2).toFixed(1));
        }
      }, LIVE_EVERY_MS);
      return () => watching.delete(watcher) && clearInterval(timer);
    },
    async call(service, { entity, data = {} }) {
      const name = service.split(".")[1];
      const isOn = home.get(entity)?.[0] === "on";
      const results = {
        turn_on: "on", turn_off: "off", toggle: isOn ? "off" : "on", lock: "locked", unlock: "unlocked",
        media_play: "playing", media_pause: "paused",
      };
      if (!home.has(entity) || !Object.hasOwn(results, name)) {
        throw new Error(`The pretended home cannot do ${service} with ${entity}.`);
      }
      change(entity, results[name], data);
    },
  };
}

/** A landscape in colors that depend on the address. */
async function drawn(url) {
  const hue = [...url].reduce((sum, it) => (sum * 31 + it.charCodeAt(0)) % 360, 7);
  const canvas = new OffscreenCanvas(640, 400);
  const picture = canvas.getContext("2d");
  const fill = (color, x, y, width, height) => {
    picture.fillStyle = color;
    picture.fillRect(x, y, width, height);
  };
  fill(`hsl(${hue} 60% 80%)`, 0, 0, 640, 400);
  fill(`hsl(${hue + 40} 45% 55%)`, 0, 220, 640, 180);
  fill(`hsl(${hue + 60} 45% 40%)`, 0, 310, 640, 90);
  picture.fillStyle = `hsl(${hue + 180} 80% 75%)`;
  picture.arc(480, 120, 50, 0, 7);
  picture.fill();
  return canvas.convertToBlob();
}

function sampleData(today) {
  const dayFromNow = (days) =>
    new Date(today.getTime() + days * DAY_MS).toLocaleDateString("sv-SE");
  return {
    weather: {
      place: "Zürich",
      temperature: 14.2,
      condition: "fair",
      wind: 11,
      days: [
        { date: dayFromNow(1), condition: "clear", low: 7, high: 19 },
        { date: dayFromNow(2), condition: "cloudy", low: 9, high: 16 },
        { date: dayFromNow(3), condition: "rain", low: 8, high: 12 },
        { date: dayFromNow(4), condition: "storm", low: 6, high: 13 },
      ],
    },
    calendar: [
      { date: dayFromNow(0), time: "18:30", title: "Choir rehearsal" },
      { date: dayFromNow(2), title: "Paper collection" },
      { date: dayFromNow(5), time: "09:00", title: "Dentist" },
    ],
    sensors: [
      { id: "living", label: "Living room", value: 21.4, unit: "°C", min: 0, max: 40 },
      { id: "humidity", label: "Humidity", value: 48, unit: "%", min: 0, max: 100 },
      { id: "air", label: "CO₂, office", value: 1240, unit: "ppm", min: 400, max: 2000,
        warnAbove: 1200 },
      { id: "freezer", label: "Freezer", value: -18.5, unit: "°C", min: -30, max: 0,
        warnAbove: -12 },
    ],
    hosts: [
      { name: "web-1", state: "up", cpu: 0.31, memory: 0.58, disk: 0.44 },
      { name: "web-2", state: "busy", cpu: 0.93, memory: 0.71, disk: 0.46 },
      { name: "backup", state: "down" },
    ],
    series: [{
      id: "visits",
      label: "Visits",
      unit: "/h",
      points: Array.from({ length: 24 }, (_, hour) => ({
        at: new Date(today.getTime() - (23 - hour) * DAY_MS / 24).toISOString(),
        value: Math.round(120 + 70 * Math.sin((hour - 6) / 3.8) + 18 * Math.sin(hour * 2.4)),
      })),
    }],
  };
}

/** The topic's data a moment later: a little up, a little down. */
function stir(topic, current, moment) {
  const nudge = (share) => (Math.random() - 0.5) * share;
  if (topic === "sensors") {
    return current.map((sensor) => ({
      ...sensor,
      value: Math.round((sensor.value + nudge((sensor.max - sensor.min) / 40)) * 10) / 10,
    }));
  }
  if (topic === "series") {
    return current.map((series) => ({
      ...series,
      points: [...series.points.slice(1), {
        at: moment.toISOString(),
        value: Math.max(0, Math.round(series.points.at(-1).value + nudge(40))),
      }],
    }));
  }
  return current;
}
