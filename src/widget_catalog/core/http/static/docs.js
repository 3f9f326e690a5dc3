// Enhancements of the docs, which work without it.
"use strict";

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

document.querySelectorAll(".contents.wide").forEach(followReader);
document.querySelectorAll("[data-try]").forEach((form) => {
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    tryOperation(form);
  });
});
