// Semantic versions and npm's ranges, prereleases included: the rules of widget_contract/semver.py.

const MAX_NUMBER = 2n ** 53n - 1n;
const [NUMERIC, WORD, RELEASE] = [0n, 1n, 2n];
const BOTTOM = [0n, 0n, 0n, NUMERIC, 0n];
const TOP = [MAX_NUMBER + 1n, 0n, 0n, NUMERIC, 0n];

const NUMBER = "(?:0|[1-9][0-9]{0,256})";
const IDENTIFIER = `(?:[0-9]{0,256}[a-zA-Z-][0-9a-zA-Z-]{0,250}|${NUMBER})`;
const PRERELEASE = `${IDENTIFIER}(?:\\.${IDENTIFIER})*`;
const BUILD = "[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*";
const COMPONENT = `(?:${NUMBER}|[xX*])`;
const PARTIAL = `${COMPONENT}(?:\\.${COMPONENT}(?:\\.${COMPONENT}(?:-${PRERELEASE})?)?)?`;
const FULL = `${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PRERELEASE})?`;

const whole = (pattern) => new RegExp(`^(?:${pattern})$`);
const VERSION = whole(`(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-(${PRERELEASE}))?(?:\\+${BUILD})?`);
const COMPARATOR = whole(`(\\^|~>?|[<>]?=?)([v=]*)(${PARTIAL})`);
const FULL_COMPARATOR = whole(`([<>]?=?)(v?)(${FULL})(?:\\+${BUILD})?`);
const HYPHEN_RANGE = whole(` {0,2}([v= ]*)(${PARTIAL}) - [v= ]*(${PARTIAL}) ?`);
const BLANKS = /[\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+/g;
const OPERATOR_BLANK = /( ?[<>]?=?) ?([v= ]*[0-9xX*][0-9a-zA-Z.*-]*)|([v= ]+)/g;

/** A version: its text, and its sort key. */
export function parseVersion(text) {
  const quoted = `"${String(text).slice(0, 80)}"`;
  const found = typeof text === "string" && text.length <= 256 && VERSION.exec(text);
  if (!found) {
    throw new RangeError(`${quoted} is not a semantic version: write three numbers, such as 1.0.0.`);
  }
  const numbers = found.slice(1, 4).map(BigInt);
  if (numbers.some((it) => it > MAX_NUMBER)) {
    throw new RangeError(`${quoted} is not a usable version: no number may be above ${MAX_NUMBER}.`);
  }
  const ranked = (it) => (/^[0-9]+$/.test(it) ? [NUMERIC, BigInt(it)] : [WORD, it]);
  const rest = found[4] ? found[4].split(".").flatMap(ranked) : [RELEASE];
  return { text, key: [...numbers, ...rest] };
}

/** A range: intervals that include their start and not their end. */
export function parseRange(text) {
  try {
    if (typeof text !== "string" || text.length > 1024) throw new RangeError();
    const intervals = text.replace(BLANKS, " ").split("||").map(readAlternative);
    return {
      isAny: intervals.some(([start, end]) => start === BOTTOM && end === TOP),
      admits: ({ key }) =>
        intervals.some(([start, end]) => compare(start, key) <= 0 && compare(key, end) < 0),
    };
  } catch {
    const advice = "write it as npm does, such as ^1.2.0 or >=1.0.0 <3.0.0";
    throw new RangeError(`"${String(text).slice(0, 80)}" is not a version range: ${advice}.`);
  }
}

/** Whether a range includes an SDK; an invalid range includes none. */
export function fits(rangeText, sdk) {
  let range;
  try {
    range = parseRange(rangeText);
  } catch {
    return false;
  }
  const release = { key: [...sdk.key.slice(0, 3), RELEASE] };
  return range.admits(sdk) || range.admits(release);
}

export function compare(a, b) {
  for (let at = 0; at < a.length && at < b.length; at++) {
    if (a[at] !== b[at]) return a[at] < b[at] ? -1 : 1;
  }
  return a.length - b.length;
}

function readAlternative(given) {
  let text = given.replace(/^ +| +$/g, "").replace(new RegExp(`\\+${BUILD}`, "g"), "");
  const hyphen = HYPHEN_RANGE.exec(text);
  if (hyphen) return readHyphenRange(...hyphen.slice(1));
  text = text.replace(OPERATOR_BLANK, (_, a = "", b = "", c = "") => a + b + c);
  text = text.replace(/~>? /g, "~").replaceAll("^ ", "^");
  let [start, end] = [BOTTOM, TOP];
  for (const word of text.split(" ").filter(Boolean)) {
    const [from, to] = readComparator(word);
    if (compare(from, start) > 0) start = from;
    if (compare(to, end) < 0) end = to;
  }
  return [start, end];
}

function readHyphenRange(prefix, first, last) {
  const [before, after] = [numbersOf(first), numbersOf(last)];
  let start = null;
  let end = null;
  if (before.length === 3) {
    const version = fullVersion(prefix + first);
    if (isPrerelease(version)) start = version.key;
  }
  if (after.length === 3) {
    const version = fullVersion(last);
    if (isPrerelease(version)) end = nextKey(version);
  }
  return [start ?? firstOf(before), end ?? firstAfter(after)];
}

function readComparator(word) {
  // npm drops a star from a word that it cannot parse otherwise: `1.2.3*` is 1.2.3.
  const found = COMPARATOR.exec(word) ?? FULL_COMPARATOR.exec(word.replace(/[<>]?=?\*/, ""));
  if (!found) throw new RangeError(word);
  const [, operator, prefix, partial] = found;
  const numbers = numbersOf(partial);
  let version = null;
  if (numbers.length === 3) {
    version = fullVersion(/^[\^~]/.test(operator) ? partial : prefix + partial);
  }
  const start = version?.key ?? firstOf(numbers);
  if (operator === "^") {
    const zeros = numbers.findIndex((it) => it !== 0n);
    return [start, firstAfter(numbers.slice(0, zeros < 0 ? 4 : zeros + 1))];
  }
  if (operator.startsWith("~")) return [start, firstAfter(numbers.slice(0, 2))];
  if (/^[^-]*[xX*]\.[0-9]/.test(partial)) throw new RangeError(word);
  if (operator === ">=") return [start, TOP];
  if (operator === "<") return [BOTTOM, start];
  const end = version ? nextKey(version) : firstAfter(numbers);
  if (operator === ">") return [end, TOP];
  if (operator === "<=") return [BOTTOM, end];
  return [start, end];
}

function numbersOf(partial) {
  const components = partial.split("-", 1)[0].split(".");
  const wild = components.findIndex((it) => !/^[0-9]+$/.test(it));
  return components.slice(0, wild < 0 ? 3 : wild).map(BigInt);
}

function firstOf(numbers) {
  if (numbers.some((it) => it > MAX_NUMBER)) throw new RangeError("too large");
  return [...[...numbers, 0n, 0n, 0n].slice(0, 3), NUMERIC, 0n];
}

function firstAfter(numbers) {
  return numbers.length ? firstOf([...numbers.slice(0, -1), numbers.at(-1) + 1n]) : TOP;
}

function nextKey(version) {
  if (isPrerelease(version)) return [...version.key, NUMERIC, 0n];
  const [major, minor, patch] = version.key;
  return [major, minor, patch + 1n, NUMERIC, 0n];
}

function isPrerelease(version) {
  return version.key[3] !== RELEASE;
}

function fullVersion(text) {
  if (text.length > 256) throw new RangeError(text);
  return parseVersion(text.replace(/^v/, ""));
}
