// What widget.json may contain: the patterns and limits of its JSON Schema, which is made of
// widget_contract, and what a schema does not express, tested with the vectors. The rules for
// characters in texts are simplified; `widget validate` and the catalog know all of them.

import { readFileSync } from "node:fs";

const MAX_MANIFEST_BYTES = 65_536;
const MAX_NARROWED = 128;
const { properties: KEYS } = JSON.parse(readFileSync(new URL("./widget.schema.json", import.meta.url), "utf8"));
const fits = ({ pattern = "", maxLength = Infinity }) => {
  const expression = new RegExp(pattern);
  return (value) => typeof value === "string" && value.length <= maxLength && expression.test(value);
};
const MAX_CELLS = KEYS.minSize.properties.w.maximum;
const CAPABILITY = KEYS.capabilities.items.properties;
const TEXTS = KEYS.translations.additionalProperties.properties;
const [isName, isVersion, isIcon, isFile] = [KEYS.name, KEYS.version, KEYS.icon.anyOf[0], KEYS.main].map(fits);
const isPermission = fits(KEYS.permissions.items.anyOf[1]);
const [isKeyword, isLanguage] = [KEYS.keywords.items, KEYS.translations.propertyNames].map(fits);
const isDomain = fits(CAPABILITY.domain);
const NARROWED = {
  entities: [fits(CAPABILITY.entities.items), "a pattern such as lock.front_*"],
  services: [fits(CAPABILITY.services.items), "a name such as unlock"],
};
const NUMBER = "(0|[1-9]\\d*)";
const MORE = "(-[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?(\\+[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?";
const PART = `(${NUMBER}|[xX*])`;
const PARTIAL = `v?${PART}(\\.${PART}(\\.${PART}${MORE})?)?`;
const COMPARATORS = new RegExp(`^\\s*((\\^|~>?|[<>]?=?)\\s*${PARTIAL}(\\s+|$))+$`);
const HYPHEN = new RegExp(`^\\s*${PARTIAL}\\s+-\\s+${PARTIAL}\\s*$`);
const INVISIBLE = /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
const HTTPS_RULE = "must be an https address, such as https://clock.example.";

/** README, addresses and author, which pages show. */
function readDetails({ readme, homepage, repository, author }, complain) {
  const isAbsent = (value) => (value ?? "") === "";
  if (!isAbsent(readme) && typeof readme !== "string") {
    complain("readme", "must be a text.");
  } else if (!isAbsent(readme) && Buffer.byteLength(readme) > KEYS.readme.maxLength) {
    complain("readme", `must have at most ${KEYS.readme.maxLength} bytes.`);
  }
  if (!isAbsent(homepage) && !isAddress(homepage)) complain("homepage", HTTPS_RULE);
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const place = isObject(repository) ? repository.url : repository;
  const address = typeof place === "string" ? place.replace(/^git\+/, "") : place;
  if (!isAbsent(address) && !isAddress(address)) complain("repository", HTTPS_RULE);
  if (isAbsent(author)) return;
  const name = isObject(author) ? author.name : author;
  if (typeof name !== "string" || name.trim() === "" || name.length > KEYS.author.anyOf[0].maxLength) {
    complain("author", 'must be a name, or an object such as {"name": "Ann", "url": "https://ann.example"}.');
  } else if (isObject(author) && !isAbsent(author.url) && !isAddress(author.url)) {
    complain("author.url", HTTPS_RULE);
  }
}

const isHttps = fits(KEYS.homepage.anyOf[0]);
const isAddress = (value) => isHttps(value) && URL.canParse(value);

/** The manifest, and all its errors: each a field and a sentence. */
export function checkManifest(text) {
  const errors = [];
  const complain = (key, sentence) => void errors.push(`${key}: ${sentence}`);
  let manifest;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    return { manifest: {}, errors: [`the manifest is not JSON: ${error.message}`] };
  }
  if (typeof manifest !== "object" || manifest === null || Array.isArray(manifest)) {
    return { manifest: {}, errors: ["the manifest must be a JSON object."] };
  }
  // A readme has a limit of its own.
  const { readme } = manifest;
  const rest = Buffer.byteLength(text) - (typeof readme === "string" ? Buffer.byteLength(readme) : 0);
  if (rest > MAX_MANIFEST_BYTES) {
    errors.push(`the manifest has more than ${MAX_MANIFEST_BYTES} bytes.`);
  }

  /** The text of a key that follows a rule; `test` returns whether it does. */
  function read(key, test, rule, { isRequired = false, isEmptyAbsent = false } = {}) {
    const value = manifest[key] ?? undefined;
    if (value === undefined || (isEmptyAbsent && value === "")) {
      if (isRequired) complain(key, "is missing.");
    } else if (typeof value !== "string") {
      complain(key, "must be a text.");
    } else if (!test(value)) {
      complain(key, rule);
    }
  }
  const isLine = (value, max) => value.trim() !== "" && value.length <= max;
  /** A text of one line, or of several, with the limit of the schema. */
  function readText(key, test = isLine) {
    const { maxLength } = KEYS[key].anyOf?.findLast((it) => it.maxLength) ?? KEYS[key];
    read(key, (it) => test(it, maxLength), `must have at most ${maxLength} characters.`, optional);
  }
  const required = { isRequired: true };
  const optional = { isEmptyAbsent: true };

  const nameRule = "use 1 to 64 lowercase letters, digits and hyphens, beginning with a letter or digit.";
  read("name", isName, nameRule, required);
  read("scope", isName, nameRule);
  read("version", isVersion, "write a semantic version, three numbers, such as 1.0.0.", required);
  const most = KEYS.displayName.maxLength;
  const isNamed = (value) => isLine(value, most) && !INVISIBLE.test(value);
  read("displayName", isNamed, `must have 1 to ${most} characters, and no invisible ones.`, required);
  readText("description");
  read("icon", isIcon, "must be an Iconify name, such as mdi:clock.", optional);
  readSizes(manifest, complain);
  read("sdkVersion", isRange, "must be an npm range of SDKs, such as ^2.0.0, and not any.", required);
  readText("license");
  readText("releaseNotes", (it, max) => it.length <= max);
  for (const key of ["main", "style"]) {
    read(key, isFile, "must be a file below the manifest's folder, such as dist/index.js.");
  }
  readDetails(manifest, complain);
  readKept(manifest, complain);
  readPermissions(manifest.permissions, complain);
  readKeywords(manifest.keywords, complain);
  readTranslations(manifest.translations, complain);
  readCapabilities(manifest.capabilities, complain);
  const { configVersion } = manifest;
  if ((configVersion ?? null) !== null && !(Number.isSafeInteger(configVersion) && configVersion >= 0)) {
    complain("configVersion", "must be a whole number, 0 or more.");
  }
  return { manifest, errors };
}

/** Keys that the catalog only keeps, and dashboards read. */
function readKept(manifest, complain) {
  for (const key of ["configSchema", "schema", "defaultConfig"]) {
    const value = manifest[key] ?? {};
    if (typeof value !== "object" || Array.isArray(value)) complain(key, "must be an object.");
  }
  if (typeof (manifest.isOfficial ?? false) !== "boolean") complain("isOfficial", "must be true or false.");
  const size = manifest.defaultSize ?? { w: 1, h: 1 };
  const isCells = (it) => Number.isInteger(it) && it >= 1 && it <= MAX_CELLS;
  if (!isCells(size.w) || !isCells(size.h)) {
    complain("defaultSize", `must be like {"w": 2, "h": 1}, in whole cells from 1 to ${MAX_CELLS}.`);
  }
}

function isRange(text) {
  return text.split("||").every((it) => (COMPARATORS.test(it) || HYPHEN.test(it)) && !/^\s*[xX*]\s*$/.test(it));
}

function readSizes({ minSize, maxSize }, complain) {
  const isCells = (it) => Number.isInteger(it) && it >= 1 && it <= MAX_CELLS;
  const isSize = (it) => isCells(it?.w) && isCells(it?.h);
  for (const [key, size] of Object.entries({ minSize, maxSize })) {
    if ((size ?? null) === null) complain(key, "is missing.");
    else if (!isSize(size)) complain(key, `must be like {"w": 2, "h": 1}, in whole cells from 1 to ${MAX_CELLS}.`);
  }
  if (isSize(minSize) && isSize(maxSize) && (minSize.w > maxSize.w || minSize.h > maxSize.h)) {
    complain("minSize", "must not be larger than maxSize.");
  }
}

function readPermissions(found, complain) {
  if ((found ?? null) === null) return;
  const { maxItems } = KEYS.permissions;
  if (!Array.isArray(found) || found.length > maxItems) return complain("permissions", `must be a list of at most ${maxItems}.`);
  const wrong = found.filter((it) => !isPermission(it));
  for (const it of wrong) complain("permissions", `${JSON.stringify(it)} is not a permission, such as storage.`);
  if (new Set(found).size < found.length) complain("permissions", "names a permission twice.");
}

function readKeywords(found, complain) {
  if ((found ?? null) === null) return;
  const { maxItems } = KEYS.keywords;
  if (!Array.isArray(found) || found.length > maxItems) return complain("keywords", `must be a list of at most ${maxItems}.`);
  found.forEach((it, at) => {
    if (!isKeyword(it)) {
      complain(`keywords[${at}]`, "use 2 to 30 lowercase letters, digits and hyphens, such as time-zone.");
    } else if (found.indexOf(it) < at) complain(`keywords[${at}]`, `${it} is given twice.`);
  });
}

function readTranslations(found, complain) {
  if ((found ?? null) === null) return;
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject(found) || Object.keys(found).length > KEYS.translations.maxProperties) {
    return complain("translations", 'must be an object such as {"de": {"displayName": "Uhr"}}, of at most 30 languages.');
  }
  const isText = (value, most) => typeof value === "string" && value.trim() !== "" && value.length <= most;
  for (const [tag, texts] of Object.entries(found)) {
    const at = `translations.${tag}`;
    if (!isLanguage(tag)) complain("translations", `${tag} is not the tag of a language, such as de or pt-BR.`);
    else if (!isObject(texts) || !("displayName" in texts || "description" in texts)) {
      complain(at, "must have a displayName, a description, or both.");
    } else {
      for (const [key, { maxLength: most }] of Object.entries(TEXTS)) {
        if (key in texts && !isText(texts[key], most)) complain(`${at}.${key}`, `must have 1 to ${most} characters.`);
      }
      const others = Object.keys(texts).filter((key) => !(key in TEXTS));
      for (const key of others) complain(at, `${key} cannot be translated, only displayName and description.`);
    }
  }
}

function readCapabilities(found, complain) {
  if ((found ?? null) === null) return;
  const { maxItems } = KEYS.capabilities;
  if (!Array.isArray(found) || found.length > maxItems) return complain("capabilities", `must be a list of at most ${maxItems} objects.`);
  let narrowed = 0;
  found.forEach((it, index) => {
    const at = `capabilities[${index}]`;
    if (typeof it !== "object" || it === null || Array.isArray(it)) {
      return complain(at, 'must be an object such as {"domain": "lock", "access": "control"}.');
    }
    if ((it.domain ?? null) === null) complain(`${at}.domain`, "is missing.");
    else if (!isDomain(it.domain)) complain(`${at}.domain`, "must be like media_player.");
    if ((it.access ?? null) === null) complain(`${at}.access`, "is missing.");
    else if (!CAPABILITY.access.enum.includes(it.access)) complain(`${at}.access`, "must be read or control.");
    for (const [key, [isRight, rule]] of Object.entries(NARROWED)) {
      if ((it[key] ?? null) === null) continue;
      if (!Array.isArray(it[key]) || it[key].length === 0) {
        complain(`${at}.${key}`, `must be a list with at least one: ${rule}.`);
        continue;
      }
      narrowed += it[key].length;
      it[key].forEach((one, i) => {
        if (!isRight(one)) complain(`${at}.${key}[${i}]`, `must be ${rule}.`);
      });
    }
  });
  if (narrowed > MAX_NARROWED) complain("capabilities", "must not name more than 128 entities and services in all.");
}
