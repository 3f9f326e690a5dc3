// Passkeys: when a form with `data-passkey` is submitted, the browser is asked for one, and its
// response is sent in the field `credential`. Everything else works without a script.
"use strict";

const FAILURES = {
  NotAllowedError: "That was cancelled, or took too long. Try again.",
  InvalidStateError: "This device has a passkey for your account already.",
  NotSupportedError: "This device cannot make a passkey that works here.",
};

function bytes(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (char) => char.charCodeAt(0));
}

function text(buffer) {
  const plain = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(plain).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// The options are JSON, with bytes in base64url.
function decoded(options) {
  const known = (list) => (list ?? []).map((it) => ({ ...it, id: bytes(it.id) }));
  const made = { ...options, challenge: bytes(options.challenge) };
  if (options.user) made.user = { ...options.user, id: bytes(options.user.id) };
  if (options.excludeCredentials) made.excludeCredentials = known(options.excludeCredentials);
  if (options.allowCredentials) made.allowCredentials = known(options.allowCredentials);
  return made;
}

function encoded(credential) {
  const { response } = credential;
  const answer = { clientDataJSON: text(response.clientDataJSON) };
  if (response.attestationObject) {
    answer.attestationObject = text(response.attestationObject);
    answer.transports = response.getTransports?.() ?? [];
  } else {
    answer.authenticatorData = text(response.authenticatorData);
    answer.signature = text(response.signature);
    if (response.userHandle) answer.userHandle = text(response.userHandle);
  }
  const { id, type } = credential;
  return JSON.stringify({ id, rawId: text(credential.rawId), type, response: answer });
}

async function ask(form) {
  const publicKey = decoded(JSON.parse(form.dataset.options));
  const credential =
    form.dataset.passkey === "create"
      ? await navigator.credentials.create({ publicKey })
      : await navigator.credentials.get({ publicKey });
  form.elements.credential.value = encoded(credential);
  form.submit();
}

function prepare(form) {
  const button = form.querySelector("button[type=submit]");
  const status = form.querySelector("[role=alert]");
  const say = (sentence) => {
    status.textContent = sentence;
    status.hidden = false;
  };
  const start = async (isByItself) => {
    status.hidden = true;
    button.disabled = true;
    try {
      await ask(form);
    } catch (fault) {
      button.disabled = false;
      // Browsers may require a click; that is what the button is for.
      if (!isByItself) say(FAILURES[fault.name] ?? "This browser could not use a passkey here.");
    }
  };
  form.hidden = false;
  form.querySelector("[data-focus]")?.focus();
  if (location.origin !== form.dataset.origin) {
    button.disabled = true;
    say(`Passkeys work at ${form.dataset.origin} only. Open this page there.`);
  } else if (!window.PublicKeyCredential) {
    button.disabled = true;
    say("This browser has no passkeys. Use another one, or another way.");
  } else {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      start(false);
    });
    if ("start" in form.dataset) start(true);
  }
}

document.querySelectorAll("[data-without-script]").forEach((it) => (it.hidden = true));
document.querySelectorAll("form[data-passkey]").forEach(prepare);
