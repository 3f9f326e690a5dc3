// The search page of a static site: searches with the client, like a service.

import { Catalog } from "../client/v1/client.js";
import { catalogFetch, normal } from "../client/v1/static.js";

const base = new URL("..", import.meta.url).href;
const query = new URLSearchParams(location.search);
const [page, limit] = [Number(query.get("page")) || 1, 24];
const [status, list, pager] = ["status", "results", "pager"].map((id) => document.getElementById(id));

function element(tag, text, attributes = {}) {
  const made = Object.assign(document.createElement(tag), attributes);
  made.textContent = text;
  return made;
}

// The card of a widget, as in all lists of the site.
async function card({ scope, name, displayName }) {
  const place = `${base}widgets/${scope}/${name}/`;
  const answer = await fetch(`${place}card.html`);
  const page = new DOMParser().parseFromString(answer.ok ? await answer.text() : "", "text/html");
  const item = page.querySelector("li") ?? element("li", "");
  if (item.childElementCount === 0) item.append(element("a", displayName, { href: place, dir: "auto" }));
  return item;
}

function linkTo(number, text) {
  const other = new URLSearchParams(query);
  other.set("page", number);
  return element("a", text, { href: `?${other}` });
}

// Without endings of plurals in English and German, and without words that say little.
const LITTLE = /^(a|an|and|for|in|of|on|the|to|with|das|der|die|ein|eine|fur|für|mit|und|von)$/i;
const simpler = (text) => {
  const words = text.split(/\s+/).filter((it) => !LITTLE.test(it));
  return words.map((it) => (it.length > 4 ? it.replace(/(ies|es|en|s|n|e)$/i, "") : it)).join(" ");
};

// Whether a letter is missing, added or different, or two are swapped.
function isNear(one, other) {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const isRest = (more, less) => one.slice(at + more) === other.slice(at + less);
  const isSwapped = one[at] === other[at + 1] && one[at + 1] === other[at];
  return isRest(1, 1) || isRest(1, 0) || isRest(0, 1) || (isSwapped && isRest(2, 2));
}

// With the word of most widgets for each that no widget has; null if there is nothing to correct.
async function corrected(text) {
  const answer = await fetch(`${base}api/v1/widgets/search.json`);
  const known = new Map();
  for (const [scope, name, ...texts] of (await answer.json()).widgets) {
    const own = normal([scope, name, texts[0], texts[1], texts[4]].join(" ")).match(/[\p{L}\p{N}]+/gu);
    for (const word of new Set(own)) known.set(word, (known.get(word) ?? 0) + 1);
  }
  const words = [...known.keys()].sort((one, other) => known.get(other) - known.get(one));
  const asked = normal(text).split(/\s+/);
  const meant = asked.map((it) => {
    if (it.length < 4 || words.some((word) => word.includes(it))) return it;
    return words.find((word) => word.length > 2 && isNear(it, word)) ?? it;
  });
  return meant.join() === asked.join() ? null : meant.join(" ");
}

async function suggest(text) {
  const words = await corrected(text) ?? await corrected(simpler(text));
  if (words === null || (await search(words, 1)).total === 0) return;
  const other = new URLSearchParams(query);
  other.set("q", words);
  other.delete("page");
  const line = element("p", "Did you mean ", { className: "meant" });
  line.append(element("a", words, { href: `?${other}` }), "?");
  status.after(line);
}

const q = query.get("q") ?? "";
document.getElementById("q").value = q;
const catalog = new Catalog(base, { cache: null, fetch: catalogFetch(base, { searchesNames: true }) });
const official = query.get("official") || null;
const search = (q, at = page) => catalog.search({ q, official, scope: query.get("scope"), page: at, limit });
try {
  let found = await search(q);
  if (found.total === 0 && simpler(q)) found = await search(simpler(q));
  if (found.total === 0 && q) await suggest(q);
  status.textContent = `${found.total.toLocaleString("en")} widget${found.total === 1 ? "" : "s"}`;
  list.replaceChildren(...await Promise.all(found.widgets.map(card)));
  globalThis.applyTheme?.();
  document.getElementById("none").hidden = found.total > 0;
  if (page > 1) pager.append(linkTo(page - 1, "Previous"), " ");
  if (page * limit < found.total) pager.append(linkTo(page + 1, "Next"));
} catch (error) {
  status.textContent = error.message;
}
