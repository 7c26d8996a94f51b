/** Waits for the promise, at most this long; a late result is ignored. */
export async function within(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, Math.max(0, timeoutMs))));
  await Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

/** Whether the promise settles within this time, in whatever way. */
export async function settlesWithin(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  await within(promise.then(settle, settle), timeoutMs);
  return isSettled;
}
