// The search page of a static site: searches with the client, like a service.

import { Catalog } from "../client/v1/client.js";
import { catalogFetch } from "../client/v1/static.js";

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

const q = query.get("q") ?? "";
document.getElementById("q").value = q;
const catalog = new Catalog(base, { cache: null, fetch: catalogFetch(base, { searchesNames: true }) });
try {
  const official = query.get("official") || null;
  const found = await catalog.search({ q, official, scope: query.get("scope"), page, limit });
  status.textContent = `${found.total.toLocaleString("en")} widget${found.total === 1 ? "" : "s"}`;
  list.replaceChildren(...await Promise.all(found.widgets.map(card)));
  globalThis.applyTheme?.();
  document.getElementById("none").hidden = found.total > 0;
  if (page > 1) pager.append(linkTo(page - 1, "Previous"), " ");
  if (page * limit < found.total) pager.append(linkTo(page + 1, "Next"));
} catch (error) {
  status.textContent = error.message;
}
