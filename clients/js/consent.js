// Asks a person what a widget may do. consent.d.ts says what it does.

import { inWords, requested } from "./capabilities.js";
import { make, useStyle } from "./elements.js";
import { PERMISSIONS, translator } from "./texts.js";

// What follows `:where` has no weight: a page may style it with any rule, or with the variables.
const STYLE = `
:where(.widget-consent) { display: grid; gap: var(--widget-gap, 1rem); text-align: start; }
:where(.widget-consent fieldset) { display: grid; gap: .6rem; min-width: 0; margin: 0; padding: 0; border: 0; }
:where(.widget-consent legend) { outline: none; padding: 0 0 .6rem; font-weight: 600; }
:where(.widget-consent label) { display: grid; grid-template-columns: auto 1fr; gap: .55rem; align-items: baseline; overflow-wrap: anywhere; }
:where(.widget-consent input) { margin: 0; accent-color: var(--widget-accent, auto); }
:where(.widget-actions) { display: flex; flex-wrap: wrap; gap: .6rem; }
:where(.widget-consent button) { padding: .5rem 1rem; border: 1px solid var(--widget-edge, color-mix(in srgb, currentColor 55%, transparent)); border-radius: var(--widget-radius, 8px); background: none; color: inherit; font: inherit; font-weight: 600; cursor: pointer; }
:where(.widget-allow) { border-color: transparent; background: var(--widget-accent, light-dark(#11685a, #74d0bb)); color: var(--widget-on-accent, light-dark(#fff, #0c2521)); }
`;

/** What a version asks for, in a sentence, as on the pages of the catalog. */
export function sentenceOf(permission, { locale, translate = translator(locale) } = {}) {
  if (typeof permission === "string") {
    const [, kind, detail] = /^([^:]*):?(.*)$/s.exec(permission);
    const known = Object.hasOwn(PERMISSIONS, kind) ? translate(PERMISSIONS[kind]) : kind;
    return detail ? `${known}: ${detail}` : known;
  }
  const isTranslated = translate("read %(domain)s") !== "read %(domain)s";
  const words = inWords(permission, isTranslated ? { translate } : {});
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function consent(element, { permissions, capabilities = [], locale, translate } = {}) {
  const _ = translate ?? translator(locale);
  const names = permissions ?? capabilities.map(({ access, domain }) => `${access}:${domain}`);
  const asked = requested(names, { capabilities });
  if (asked.length === 0) return Promise.resolve([]);
  return new Promise((done) => {
    const boxes = asked.map(() => make("input", { type: "checkbox", checked: true }));
    const form = make("form", { className: "widget-consent" }, [
      make("fieldset", {}, [
        make("legend", { textContent: _("This widget wants to:"), tabIndex: -1 }),
        ...asked.map((it, at) => make("label", {}, [
          boxes[at], make("span", { textContent: sentenceOf(it, { translate: _ }) }),
        ])),
      ]),
      make("div", { className: "widget-actions" }, [
        make("button", { className: "widget-allow", textContent: _("Allow what is ticked") }),
        make("button", { type: "button", textContent: _("Allow nothing") }),
      ]),
    ]);
    const end = (grants) => {
      form.remove();
      done(grants);
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      end(asked.filter((_, at) => boxes[at].checked));
    });
    form.querySelector("[type=button]").addEventListener("click", () => end([]));
    form.addEventListener("keydown", ({ key }) => key === "Escape" && end([]));
    element.replaceChildren(form);
    useStyle(element, STYLE);
    form.querySelector("legend").focus(); // A screen reader reads it, and what follows.
  });
}
