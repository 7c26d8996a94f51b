/** Waiting for what sends no event. */

/** Resolves when `condition` holds; asked again whenever a timer of a few milliseconds runs. Fails after 20 s. */
export async function until(condition: () => boolean | Promise<boolean>, what = 'the condition'): Promise<void> {
  const deadlineMs = performance.now() + 20_000;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`Waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
