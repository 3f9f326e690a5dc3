// The page of `widget dev`: the preview panel, and the widget's errors, live.
import { draw } from "./preview/panel.js";

const place = document.querySelector("#place");
const findings = document.querySelector("#findings");
const older = document.querySelector("#older");
let panel = null;
let drawn = "";

async function look() {
  const { version, faults, warnings } = await (await fetch("/state")).json();
  show(faults, warnings, version !== null);
  if (version === null) return;
  document.title = `${version.displayName} · widget dev`;
  document.querySelector("h1").textContent = version.displayName;
  document.querySelector("#key").textContent = `${version.name} ${version.version}`;
  const { bundleUrl, sha256Hash, styleUrl, version: number, ...about } = version;
  if (JSON.stringify(about) === drawn) return panel.refresh(version);
  const runs = panel?.isWanted ?? true;
  panel?.end();
  drawn = JSON.stringify(about);
  panel = draw(place, version);
  const { configVersion } = Object(version.manifest);
  older.hidden = !configVersion;
  if (configVersion) older.querySelector("input").value ||= configVersion - 1;
  if (runs) await panel.run();
}

older.addEventListener("input", ({ target }) => target.setCustomValidity(""));
older.addEventListener("submit", (event) => {
  event.preventDefault();
  const { configVersion, config } = event.target.elements;
  try {
    panel.run({ config: JSON.parse(config.value), configVersion: configVersion.valueAsNumber });
  } catch {
    config.setCustomValidity("This is not JSON.");
    config.reportValidity();
  }
});

function show(faults, warnings, runs) {
  const all = [...faults, ...warnings];
  findings.hidden = all.length === 0;
  findings.className = faults.length > 0 ? "faults" : "warnings";
  const last = runs ? " The preview shows the last one without errors." : "";
  findings.querySelector("h2").textContent =
    faults.length > 0 ? `This cannot be published yet.${last}` : "Please look at this.";
  findings.querySelector("ul").replaceChildren(...all.map((sentence) => {
    const item = document.createElement("li");
    item.textContent = sentence;
    item.classList.toggle("code", sentence.includes("\n")); // It shows a place in the source.
    return item;
  }));
}

// Sequentially, however fast they arrive.
let turn = Promise.resolve();
new EventSource("/changes").addEventListener("message", () => {
  turn = turn.then(look).catch(() => {}); // The tool has ended; the page stays as it is.
});
