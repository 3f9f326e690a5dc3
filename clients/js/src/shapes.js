// What a response must contain for the client to work. Everything else is passed on unchecked.

const isText = (value) => typeof value === "string";
const isWhole = Number.isSafeInteger;
const isNullOr = (isRight) => (value) => value === null || isRight(value);
const isListOf = (isRight) => (value) => Array.isArray(value) && value.every(isRight);

function has(fields) {
  const checks = Object.entries(fields);
  return (value) =>
    typeof value === "object" && value !== null && checks.every(([key, isRight]) => isRight(value[key]));
}

function isAddress(value) {
  try {
    return isText(value) && /^https?:$/.test(new URL(value).protocol);
  } catch {
    return false;
  }
}

const isVersion = has({
  version: isText,
  bundleUrl: isAddress,
  sha256Hash: isText,
  publishedAt: isText,
  permissions: isListOf(isText),
});
const isFile = has({ path: isText, url: isAddress, size: isWhole, sha256Hash: isText });
const isResult = has({
  status: isText,
  message: isText,
  installed: isNullOr(isVersion),
  offer: isNullOr(isVersion),
  permissionsAdded: isListOf(isText),
  permissionsRemoved: isListOf(isText),
});

export const isSearch = has({ widgets: isListOf(has({ scope: isText, name: isText })) });
export const isDetail = has({ widget: has({ scope: isText, name: isText }), versions: isListOf(isVersion) });
export const isVersionDetail = has({ version: isVersion, files: isListOf(isFile) });
export const isPlan = has({ version: isVersion, files: isListOf(isFile), asked: has({}) });
export const isResolved = has({ results: isListOf(isResult) });
export const isRevocations = has({
  revision: isWhole,
  revocations: isListOf(has({ id: isText, version: isText })),
});
export const isChange = has({ seq: isWhole, type: isText, id: isText });
export const isChanges = has({ changes: isListOf(isChange), next: isWhole, newest: isWhole });
