// Enhancements of public pages, all of which work without it.
"use strict";

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
    label.data = button.dataset.copied ?? "Copied";
  } catch {
    // Without a secure context there is no clipboard: select the text, to be copied by keyboard.
    getSelection().selectAllChildren(code);
    label.data = button.dataset.selected ?? "Selected";
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
    const name = links[current()].querySelector("img").alt.replace(/^Screenshot: /, "");
    caption.textContent = `${current() + 1} of ${links.length}: ${name}`;
  };
  const button = (text, label, onclick) => {
    const made = make("button", { type: "button", textContent: text, onclick });
    made.setAttribute("aria-label", label);
    return made;
  };
  const dialog = make("dialog", { className: "lightbox" }, film, make("div", {},
    button("←", "Previous", () => show(current() - 1)), caption, button("→", "Next", () => show(current() + 1)),
    button("Close", "Close", () => dialog.close())));
  dialog.setAttribute("aria-label", "Screenshots");
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

// The contents of a page of the docs mark the section that is being read.
function followReader(contents) {
  const links = [...contents.querySelectorAll('a[href^="#"]')];
  const headings = links.map((it) => document.getElementById(decodeURIComponent(it.hash.slice(1))));
  const mark = () => {
    const current = headings.findLastIndex((it) => it && it.getBoundingClientRect().top < innerHeight / 3);
    links.forEach((it, index) => {
      if (index !== current) it.removeAttribute("aria-current");
      else if (!it.hasAttribute("aria-current")) {
        it.setAttribute("aria-current", "location");
        const below = it.getBoundingClientRect().bottom - contents.getBoundingClientRect().bottom;
        if (below > 0 || it.offsetTop < contents.scrollTop) contents.scrollTop = it.offsetTop - contents.clientHeight / 2;
      }
    });
  };
  if (links.length > 0) {
    addEventListener("scroll", () => requestAnimationFrame(mark), { passive: true });
    mark();
  }
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

// Forms of the API reference: show the response below, with status and headers.
const SHOWN_HEADERS = ["content-type", "cache-control", "etag", "vary", "access-control-allow-origin", "retry-after"];
const MOST_SHOWN = 20_000;

async function send(form) {
  if (form.method === "post") {
    return fetch(form.action, { method: "POST", body: form.elements.body.value });
  }
  return fetch(`${form.action}?${new URLSearchParams(new FormData(form))}`);
}

function pretty(text) {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Not JSON: unchanged.
  }
  return shown.length > MOST_SHOWN ? `${shown.slice(0, MOST_SHOWN)}\n…` : shown;
}

async function tryOperation(form) {
  const place = form.nextElementSibling;
  const [status, asked, headers, body] = [".status", ".asked", "dl", "pre code"].map((it) => place.querySelector(it));
  const show = (said, kind, address, described, text) => {
    status.textContent = said;
    status.className = `status s${kind}`;
    asked.textContent = address;
    headers.replaceChildren(...described.map(([name, value]) => {
      const [row, term, data] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
      term.textContent = name;
      data.textContent = value;
      row.append(term, data);
      return row;
    }));
    body.textContent = text;
    place.hidden = false;
  };
  try {
    const answer = await send(form);
    const described = SHOWN_HEADERS.filter((it) => answer.headers.has(it)).map((it) => [it, answer.headers.get(it)]);
    const { pathname, search } = new URL(answer.url);
    const said = `${answer.status} ${answer.statusText}`.trim();
    show(said, said[0], pathname + search, described, pretty(await answer.text()));
  } catch (fault) {
    show("No response", 5, form.action, [], fault.message);
  }
}

document.querySelectorAll("[data-without-script]").forEach((it) => (it.hidden = true));
document.querySelectorAll("[data-try]").forEach((form) => {
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    tryOperation(form);
  });
});
document.querySelectorAll("[data-account]").forEach((it) => showAccount(it).catch(() => {}));
document.querySelectorAll("[data-gallery]").forEach(showPictures);
document.querySelectorAll("[data-suggest]").forEach(suggestLater);
document.querySelectorAll(".contents.wide").forEach(followReader);
document.querySelectorAll("[data-live]").forEach(searchWhileTyping);
document.querySelectorAll("[data-copy]").forEach((button) => {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
  const field = document.querySelector("input[type=search]");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && field) {
    event.preventDefault();
    field.focus();
  }
});
