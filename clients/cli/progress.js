// Says what the installation is doing: on a terminal in one line that is updated, in a log in one line
// for each step, and one in every quarter of a minute.

const LOG_EVERY_MS = 15_000;

/** What the installers print about their work; the rest, such as bars and warnings, is left out. */
const WORK = /^\s*(Downloading|Collecting|Processing|Building)\s+([^\s:]+)/;
const SIZE = /\([\d.]+ ?[kMG]i?B\)/;

export function startProgress(stream = process.stderr) {
  const isLive = stream.isTTY && process.env.TERM !== "dumb";
  const startedMs = performance.now();
  const seconds = () => `${Math.round((performance.now() - startedMs) / 1000)} s`;
  let step = "";
  let detail = "";
  const now = () => [step, seconds(), detail].filter(Boolean).join(" · ");
  const draw = () => stream.write(`\r\x1b[2K${now().slice(0, (stream.columns || 80) - 1)}`);
  const timer = setInterval(isLive ? draw : () => stream.write(`${now()}\n`), isLive ? 1000 : LOG_EVERY_MS);
  timer.unref();

  function say(sentence) {
    stream.write(`${isLive ? "\r\x1b[2K" : ""}${sentence}\n`);
  }

  return {
    seconds,
    /** A line that stays. */
    say,
    /** What is done from now on. */
    step(sentence) {
      [step, detail] = [sentence, ""];
      if (isLive) draw();
      else say(sentence);
    },
    /** What is done at the moment. */
    detail(text) {
      detail = text;
      if (isLive) draw();
    },
    end() {
      clearInterval(timer);
      if (isLive) stream.write("\r\x1b[2K");
    },
  };
}

/** What a line of pip or uv says in a few words; null if it is about something else. */
export function workOf(line) {
  if (line.startsWith("Installing collected packages")) return "unpacking";
  const [, verb, what] = WORK.exec(plain(line)) ?? [];
  if (!verb) return null;
  const file = what.split("/").at(-1).replace(/(-\d[^-]*)-.*\.whl$/, "$1");
  return [`${verb.toLowerCase()} ${file}`, SIZE.exec(line)?.[0]].filter(Boolean).join(" ");
}

/** Without control characters: terminals obey them. Lines stay. */
export function plain(text) {
  return text.replace(/[^\P{Cc}\n]/gu, "");
}
