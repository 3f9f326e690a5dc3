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

// Copy buttons, next to text that is also selected with one click.
async function copy(button) {
  const code = button.parentElement.querySelector("code");
  const label = button.firstChild;
  try {
    await navigator.clipboard.writeText(code.textContent);
    label.data = "Copied";
  } catch {
    // Without a secure context there is no clipboard: select the text, to be copied by keyboard.
    getSelection().selectAllChildren(code);
    label.data = "Selected";
  }
  setTimeout(() => (label.data = "Copy"), 2000);
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

// Suggestions below a search box: the combobox pattern of ARIA. Without this, it is a plain form.
function suggest(form) {
  const box = form.querySelector("input[type=search]");
  const [panel, status] = ["div", "p"].map((tag) => document.createElement(tag));
  let [asked, waiting, active] = [null, 0, -1];
  panel.className = "suggestions";
  panel.id = `${box.id}-suggestions`;
  panel.hidden = true;
  status.className = "unseen";
  status.setAttribute("role", "status");
  box.closest(".box, form").append(panel);
  form.append(status);
  const describe = (attributes) => Object.entries(attributes).forEach(([name, value]) => box.setAttribute(name, value));
  describe({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-haspopup": "listbox" });
  const options = () => [...panel.querySelectorAll("[role=option]")];
  const choose = (number) => {
    active = number;
    options().forEach((it, place) => it.setAttribute("aria-selected", String(place === number)));
    const chosen = options()[number];
    if (chosen) describe({ "aria-activedescendant": chosen.id });
    else box.removeAttribute("aria-activedescendant");
    chosen?.scrollIntoView({ block: "nearest" });
  };
  const close = () => {
    clearTimeout(waiting);
    asked?.abort();
    panel.hidden = true;
    describe({ "aria-expanded": "false" });
    choose(-1);
  };
  const show = async () => {
    asked?.abort();
    asked = new AbortController();
    try {
      const query = new URLSearchParams({ q: box.value.trim() });
      const response = await fetch(`${form.dataset.suggest}?${query}`, { signal: asked.signal });
      if (!response.ok) return close();
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const list = page.querySelector("[role=listbox]");
      if (!list.querySelector("[role=option]") || document.activeElement !== box) return close();
      list.id = `${panel.id}-list`;
      panel.replaceChildren(document.adoptNode(list));
      options().forEach((it, place) => (it.id = `${panel.id}-${place}`));
      panel.hidden = false;
      status.textContent = list.dataset.status;
      choose(-1);
      describe({ "aria-expanded": "true", "aria-controls": list.id });
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  };
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    if (!box.value.trim()) return close();
    waiting = setTimeout(show, 120);
  });
  box.addEventListener("keydown", (event) => {
    const { key, isComposing } = event;
    if (isComposing) return;
    const count = options().length;
    if (key === "Escape" && !panel.hidden) close();
    else if (key === "Enter" && !panel.hidden && active >= 0) options()[active].click();
    else if (key === "ArrowDown" && panel.hidden && box.value.trim()) show();
    // One place before the first option is the box itself.
    else if (key === "ArrowDown" && !panel.hidden) choose(active + 1 < count ? active + 1 : -1);
    else if (key === "ArrowUp" && !panel.hidden) choose(active < 0 ? count - 1 : active - 1);
    else return;
    event.preventDefault();
  });
  box.addEventListener("blur", close);
  // The box keeps the focus, so that a click is not the end of the list before it is a click.
  panel.addEventListener("mousedown", (event) => event.preventDefault());
  form.addEventListener("submit", close);
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
document.querySelectorAll("[data-suggest]").forEach(suggest);
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
