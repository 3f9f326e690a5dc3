// Waiting, with timeouts and abort signals.

export function pause(seconds, signal) {
  return new Promise((done) => {
    const timer = setTimeout(end, seconds * 1000);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
    function end() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      done();
    }
  });
}

export function unlessAborted(work, signal) {
  if (!signal) return work;
  return new Promise((done, fail) => {
    const abort = () => fail(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    work.then(done, fail).finally(() => signal.removeEventListener("abort", abort));
  });
}
