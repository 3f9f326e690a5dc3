// Reading a response, with a limit.

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
