// The page of `widget screenshot`: the widget alone, in the size of the window. Its title becomes
// "ready" when the widget runs and has been drawn, or "failed: …".
import { Preview } from "./preview/preview.js";
import { defaultConfig } from "./preview/settings.js";

const scheme = new URLSearchParams(location.search).get("scheme") ?? "light";
const DRAWN_AFTER_MS = 700; // Fonts, images and the first animation.

const { version, faults } = await (await fetch("/state")).json();
if (version === null) {
  document.title = `failed: ${faults.join(" ")}`;
} else {
  document.documentElement.style.colorScheme = scheme;
  const preview = new Preview(document.querySelector("#place"), {
    onState: (state, sentence) => {
      if (state === "failed") document.title = `failed: ${sentence}`;
      if (state === "running") setTimeout(() => (document.title = "ready"), DRAWN_AFTER_MS);
    },
  });
  const config = defaultConfig(Object(version.manifest));
  await preview.run({ ...version, config, scheme });
}
