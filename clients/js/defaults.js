// What a widget gets where the page passes no function of its own: fetching without the page's
// credentials, and storage in this browser.

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
  // A cached answer may be one that the page got with its credentials.
  const rules = { cache: "no-store", signal: AbortSignal.timeout(10_000) };
  const answer = await fetchPlainly(address, rules);
  const bytes = await bytesOf(answer, most);
  return [bytes, (answer.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase()];
}

/** Without what would tell the host who asks. */
export async function fetchPlainly(address, more) {
  const rules = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" };
  const answer = await fetch(address, { ...rules, ...more });
  if (answer.ok) return answer;
  throw new Error(`The host answered ${answer.status}.`);
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
  let changes;
  const save = () => {
    const entries = new Map([...Object.entries(all()), ...changes]);
    changes = undefined;
    const text = JSON.stringify(Object.fromEntries(entries)); // Without what is undefined.
    if (text.length > 2 * STORED_CHARACTERS) throw new Error("A widget can store 64 KB, and no more.");
    localStorage.setItem(place, text);
  };
  let saved;
  /** All that is set at once is written at once: each write is of everything. */
  function set(key, value) {
    if (!changes) saved = Promise.resolve().then(save);
    changes = (changes ?? new Map()).set(key, value);
    return saved;
  }
  return { all, set };
}

/** The bytes of a response, if they are not more than this. */
export async function bytesOf(answer, most) {
  const reader = answer.body.getReader();
  const pieces = [];
  for (let left = most, it; !(it = await reader.read()).done; pieces.push(it.value)) {
    left -= it.value.length;
    if (left >= 0) continue;
    reader.cancel().catch(() => {});
    throw new Error(`The answer is larger than ${most} bytes.`);
  }
  return new Blob(pieces).arrayBuffer();
}
