// A host for trying out widgets: everything a context may contain, with sample data.
// No network, no disk: storage is in memory, and fetching always fails.

const DAY_MS = 86_400_000;
const LIVE_EVERY_MS = 3_000;

/**
 * A new context, as a dashboard would pass it to `mount(element, context)`.
 *
 * now: the clock; dates in the data are relative to it.
 * live: whether watched topics change by themselves.
 * kept: the stored data of the widget, as [key, value] pairs; onKeep receives new data.
 */
export function sampleContext({
  config = {}, locale = "en-GB", now, live = true, kept: before = [], onKeep = () => {},
} = {}) {
  const clock = now ?? (() => new Date());
  const data = sampleData(clock());
  const kept = new Map([["text", "Bread, tea, stamps\n\nAsk Zoë about the ladder."], ...before]);

  function watch(topic, listener) {
    if (!live) return () => {};
    const timer = setInterval(() => {
      data[topic] = stir(topic, data[topic], clock());
      listener(data[topic]);
    }, LIVE_EVERY_MS);
    return () => clearInterval(timer);
  }

  return {
    sdkVersion: "2.1.0",
    config,
    locale,
    now: clock,
    data,
    storage: {
      get: (key) => kept.get(key),
      set(key, value) {
        kept.set(key, value);
        onKeep(key, value);
      },
    },
    watch,
    fetchJson: () => Promise.reject(new Error("This sample host has no network.")),
    locate: () => Promise.resolve({ latitude: 47.37, longitude: 8.54, place: "Zürich" }),
  };
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
