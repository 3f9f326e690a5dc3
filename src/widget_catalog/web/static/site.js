// What makes public pages handier: every one of them works without it.
"use strict";

// The account corner: who is signed in is asked for apart, so that the page is the same for all.
async function showAccount(link) {
  const answer = await fetch(`${link.dataset.account}/corner`, { credentials: "same-origin" });
  if (!answer.ok) return;
  const { username } = await answer.json();
  if (!username) return;
  link.href = link.dataset.account;
  link.textContent = `@${username}`;
}

// Copy buttons: beside what is copied, which is also selected by one click.
async function copy(button) {
  const code = button.parentElement.querySelector("code");
  const label = button.firstChild;
  try {
    await navigator.clipboard.writeText(code.textContent);
    label.data = "Copied";
  } catch {
    // Without a secure context there is no clipboard: the text is selected, to be copied by keys.
    getSelection().selectAllChildren(code);
    label.data = "Selected";
  }
  setTimeout(() => (label.data = "Copy"), 2000);
}

// Results follow what is typed: the page that the form leads to is fetched, and its results shown.
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

document.querySelectorAll("[data-account]").forEach((it) => showAccount(it).catch(() => {}));
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
