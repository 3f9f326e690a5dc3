// Mounts every attack in turn, and sends what became of each to the test.
import { GROUPS, moduleOf } from "./attacks.js";

const read = async (path) => (await fetch(path)).json();
const { catalog, wait } = await read("plan.json");
const { mount } = await import(`${catalog}/client/v1/sandbox.js`);
const frame = `${catalog}/frame/v1`;
const AT_ONCE = 8; // But those that may freeze the page, or send to all frames, one by one.
const ALONE = ["BRIDGE", "FOCUS", "LOOPS"];
const field = document.querySelector("#field");
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
localStorage.setItem("own", "secret");
document.cookie = "own=secret";
if (document.readyState !== "complete") await new Promise((done) => addEventListener("load", done));
history.pushState("own", ""); // A widget could go back.

/** The longest time in which this page could do nothing. */
function watchFreezes() {
  let [last, longest] = [performance.now(), 0];
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 20);
  return () => (clearInterval(timer), Math.round(longest));
}

async function attempt(name, attack) {
  const place = document.createElement("div");
  place.className = "place";
  document.body.append(place);
  const seen = { states: [], stored: {} };
  const host = { storage: { all: () => ({}), set: (key, value) => void (seen.stored[key] = value) } };
  field.focus();
  const longestFreeze = watchFreezes();
  const files = { bundle: moduleOf(attack, await read(`canary?${encodeURIComponent(name)}`)), manifest: { permissions: ["storage"] } };
  const onState = (state, sentence) => seen.states.push([state, sentence]);
  const options = { frame, files, host, grants: ["storage"], onState, instance: name };
  const isOver = () => seen.states.some(([state]) => state === "failed") || "outcome" in seen.stored;
  const widget = await mount(place, options).catch((error) => void (seen.error = error.name));
  for (let waited = 0; waited < wait.outcome && !isOver(); waited += 50) await pause(50);
  await pause(wait.after);
  seen.isFocusKept = document.activeElement === field;
  seen.page = [document.title, history.state, localStorage.getItem("own"), document.cookie].join();
  widget?.unmount();
  place.remove();
  return { ...seen, frozenMs: longestFreeze() };
}

const results = {};
for (const [group, attacks] of Object.entries(GROUPS)) {
  const left = Object.entries(attacks);
  while (left.length > 0) {
    const some = left.splice(0, ALONE.includes(group) ? 1 : AT_ONCE);
    document.querySelector("#now").textContent = some.map(([name]) => name).join(", ");
    const seen = await Promise.all(some.map(([name, attack]) => attempt(name, attack)));
    some.forEach(([name], at) => (results[name] = { group, ...seen[at] }));
  }
}
await fetch("results", { method: "POST", body: JSON.stringify(results) });
