// Server-sent events.

import { Unavailable } from "./errors.js";
import { isChange } from "./shapes.js";

const MAX_EVENT_LENGTH = 2 ** 20;

/** The changes in a piece of a stream, and the beginning of an event that is not complete yet. */
export function takeChanges(text) {
  const events = text.split(/\r?\n\r?\n/);
  const rest = events.pop();
  if (rest.length > MAX_EVENT_LENGTH) throw new Unavailable("The catalog sends an event without end.");
  const changes = [];
  for (const event of events) {
    const data = event.match(/^data: ?.*/gm)?.map((line) => line.replace(/^data: ?/, ""));
    if (data) changes.push(JSON.parse(data.join("\n")));
  }
  if (!changes.every(isChange)) throw new Unavailable("The catalog sends what is no change.");
  return [changes, rest];
}
