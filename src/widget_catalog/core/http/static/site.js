// Enhancements of public pages, all of which work without it.
"use strict";

// Texts in the language of the page, if it is not English: the server puts them into the page.
let texts = null;
const readTexts = () =>
  Object.assign({}, ...[...document.querySelectorAll("[data-texts]")].map((it) => JSON.parse(it.textContent)));
const _ = (globalThis.translate = (text, values = {}) =>
  ((texts ??= readTexts())[text] ?? text).replace(/%\((\w+)\)s/g, (all, name) => values[name] ?? all));

// The chosen theme, which a script in the page has applied before anything was drawn. It is a cookie,
// because the pages of an account, which have no script, follow it as well.
const THEMES = ["light", "dark"];
const theme = () => THEMES.find((it) => document.cookie.split("; ").includes(`theme=${it}`)) ?? "";

function applyTheme() {
  const chosen = theme();
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
  // Pictures for dark pages.
  document.querySelectorAll("source[media]").forEach((it) => {
    it.dataset.media ??= it.media;
    it.media = { light: "not all", dark: "all" }[chosen] ?? it.dataset.media;
  });
}

function offerThemes(select) {
  select.value = theme();
  select.closest("[hidden]").hidden = false;
  select.addEventListener("change", () => {
    const { path } = select.dataset;
    const age = select.value ? 31_536_000 : 0;
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `theme=${select.value}; path=${path}; max-age=${age}; samesite=lax${secure}`;
    applyTheme();
  });
}

// The account corner: loaded separately, so that the page is the same for everybody.
async function showAccount(link) {
  const answer = await fetch(`${link.dataset.account}/corner`, { credentials: "same-origin" });
  if (!answer.ok) return;
  const { username } = await answer.json();
  if (!username) return;
  link.href = link.dataset.account;
  link.textContent = `@${username}`;
}

// Of a terminal session, only what was typed is copied.
function commands(code) {
  if (!code.classList.contains("language-console")) return "";
  const typed = code.textContent.match(/^(?:\$ .*\\\n(?:.*\\\n)*.*|\$ .*)$/gm) ?? [];
  return typed.map((it) => it.slice(2)).join("\n");
}

// Copy buttons, next to text that is also selected with one click.
async function copy(button) {
  const code = button.parentElement.querySelector("code");
  const label = button.firstChild;
  button.said ??= label.data;
  try {
    await navigator.clipboard.writeText(commands(code) || code.textContent);
    label.data = _("Copied");
  } catch {
    // Without a secure context there is no clipboard: select the text, to be copied by keyboard.
    getSelection().selectAllChildren(code);
    label.data = _("Selected");
  }
  setTimeout(() => (label.data = button.said), 2000);
}

// Pictures of a version, one at a time over the page; without this, each link opens one.
function showPictures(list) {
  const links = [...list.querySelectorAll("a")];
  const make = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const film = make("ul", {}, ...links.map((link) => {
    const { src, alt } = link.querySelector("img");
    // Pictures on another host are shown as their thumbnails, which are here.
    const isHere = new URL(link.href).origin === location.origin;
    return make("li", {}, make("img", { loading: "lazy", src: isHere ? link.href : src, alt }));
  }));
  const caption = make("p", { role: "status" });
  const current = () => Math.round(film.scrollLeft / Math.max(film.clientWidth, 1));
  const show = (number) => film.children[number]?.scrollIntoView({ block: "nearest", inline: "center" });
  const tell = () => {
    const name = links[current()].nextElementSibling.textContent;
    const values = { number: current() + 1, count: links.length, name };
    caption.textContent = _("%(number)s of %(count)s: %(name)s", values);
  };
  const button = (text, label, onclick) => {
    const made = make("button", { type: "button", textContent: text, onclick });
    made.setAttribute("aria-label", label);
    return made;
  };
  const dialog = make("dialog", { className: "lightbox" }, film, make("div", {},
    button("←", _("Previous"), () => show(current() - 1)), caption, button("→", _("Next"), () => show(current() + 1)),
    Object.assign(button(_("Close"), _("Close"), () => dialog.close()), { autofocus: true })));
  dialog.setAttribute("aria-label", _("Screenshots"));
  film.addEventListener("scroll", tell);
  dialog.addEventListener("keydown", ({ key }) => {
    if (key === "ArrowLeft") show(current() - 1);
    if (key === "ArrowRight") show(current() + 1);
  });
  dialog.addEventListener("click", ({ target }) => target.tagName === "LI" && dialog.close());
  list.after(dialog);
  links.forEach((link, number) => link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    dialog.showModal();
    show(number);
    tell();
  }));
}

// Search as you type: fetches the page of the form, and shows its results.
function searchWhileTyping(form) {
  let waiting = 0;
  let asked = null;
  const address = () => {
    const fields = [...new FormData(form)].filter(
      ([name, value]) => value && !(name === "sort" && value === "relevance"),
    );
    const query = new URLSearchParams(fields).toString();
    return form.action + (query && `?${query}`);
  };
  const show = async () => {
    const wanted = address();
    if (wanted === location.href) return;
    asked?.abort();
    asked = new AbortController();
    try {
      const answer = await fetch(wanted, { signal: asked.signal });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.querySelector("[data-results]").replaceWith(page.querySelector("[data-results]"));
      applyTheme();
      document.title = page.title;
      history.replaceState(null, "", wanted);
    } catch (fault) {
      if (fault.name !== "AbortError") form.submit();
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 150);
  });
}

// Suggestions below a search box: their script is loaded when somebody is about to type.
function suggestLater(form) {
  const load = async () => (await import(form.dataset.script)).suggest(form);
  if (form.contains(document.activeElement)) load();
  else form.addEventListener("focusin", load, { once: true });
}

document.addEventListener("DOMContentLoaded", () => {
  applyTheme();
  document.querySelectorAll("[data-themes]").forEach(offerThemes);
  document.querySelectorAll("[data-without-script]").forEach((it) => (it.hidden = true));
  document.querySelectorAll("[data-account]").forEach((it) => showAccount(it).catch(() => {}));
  document.querySelectorAll("[data-gallery]").forEach(showPictures);
  document.querySelectorAll("[data-suggest]").forEach(suggestLater);
  document.querySelectorAll("[data-live]").forEach(searchWhileTyping);
  document.querySelectorAll("[data-copy]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  });
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
  const field = document.querySelector("input[type=search]");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && field) {
    event.preventDefault();
    field.focus();
  }
});
