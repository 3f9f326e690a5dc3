// What a widget gets where the page passes no function of its own: fetching without the page's
// credentials, and storage in this browser.

import { bytesOf } from "./bytes.js";

const JSON_BYTES = 1_000_000;
const IMAGE_BYTES = 5_000_000;
const STORED_CHARACTERS = 65_536;

export async function fetchJson(address) {
  const [bytes] = await fetched(address, JSON_BYTES);
  return JSON.parse(new TextDecoder().decode(bytes));
}

export async function fetchImage(address) {
  const [bytes, type] = await fetched(address, IMAGE_BYTES);
  if (!/^image\/[\w.+-]+$/.test(type)) throw new Error("The answer is no image.");
  return new Blob([bytes], { type });
}

async function fetched(address, most) {
  const signal = AbortSignal.timeout(10_000);
  const rules = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error", signal };
  const answer = await fetch(address, rules);
  if (!answer.ok) throw new Error(`The host answered ${answer.status}.`);
  const bytes = await bytesOf(answer, most);
  return [bytes, (answer.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase()];
}

/** One entry of localStorage holds what a widget has stored; without localStorage, nothing is kept. */
export function storageOf(baseUrl, id, instance = "") {
  const place = `widget-catalog ${baseUrl} ${id} ${instance}`;
  const all = () => {
    try {
      return Object(JSON.parse(localStorage.getItem(place)));
    } catch {
      return {};
    }
  };
  return {
    all,
    set(key, value) {
      const entries = Object.entries(all()).filter(([name]) => name !== key);
      if (value !== undefined) entries.push([key, value]);
      const text = JSON.stringify(Object.fromEntries(entries));
      if (text.length > 2 * STORED_CHARACTERS) throw new Error("A widget can store 64 KB, and no more.");
      localStorage.setItem(place, text);
    },
  };
}
